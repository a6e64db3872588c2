"""The suite `images` beside Figures 1 to 4, 6 and 9 to 14: `section` puts the parts together."""
