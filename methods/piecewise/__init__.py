"""Piecewise linear networks: kinks along lines, gradients of their pieces, planes, and which way each neuron looks."""
