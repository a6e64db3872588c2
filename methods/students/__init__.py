"""Students of one architecture, trained side by side on the same samples, and what many of them have in common."""
