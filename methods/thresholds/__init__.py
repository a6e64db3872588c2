"""Units under high thresholds: their directions, their planes, and the polynomial above them."""
