"""Two hidden layers with free norms: far lines, faces of the first layer's cube, and what lies above them."""
