"""Scripts that measure two things in one run and print their ratio: machines differ, ratios stay."""
