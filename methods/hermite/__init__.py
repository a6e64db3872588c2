"""Hermite coefficients from samples, and the units behind them."""
