"""Convolutional nets of quadratic activations: their layers and heads, and their training phase by phase."""
