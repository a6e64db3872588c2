"""A family of tasks on the board: its card, its standings, its page."""
