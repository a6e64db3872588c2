"""Who identifies: one file for each registered algorithm; what they are made of is in folders named by its matter."""
