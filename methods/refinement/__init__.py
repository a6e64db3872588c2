"""All parameters of a rough network at once, from gradients, values or samples."""
