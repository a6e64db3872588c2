"""Nets of squares: descent on them, and the landscape that it meets."""
