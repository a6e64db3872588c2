"""What is to be identified: one file for each family of teachers."""
