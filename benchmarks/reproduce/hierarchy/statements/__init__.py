"""Statements of the paper in numbers that no suite has: by formulas, by symmetric tensors, and by training."""
