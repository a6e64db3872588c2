"""ReLU networks of several hidden layers, layer by layer, from kinks along lines."""
