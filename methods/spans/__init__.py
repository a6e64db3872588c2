"""Spans of w_k w_kᵀ from second and third derivatives, and the directions, signs and shifts in them."""
