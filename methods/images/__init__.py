"""Convolutional nets, quadratic or of ReLUs: their layers and heads, and their training phase by phase."""
