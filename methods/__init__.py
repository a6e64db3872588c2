"""Who identifies: one file for each algorithm, and the numerics they share in files named by their role."""
