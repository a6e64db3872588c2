"""Weights of ReLU networks by critical points, inputs where one neuron switches: the published attacks."""
