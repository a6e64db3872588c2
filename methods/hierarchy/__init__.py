"""Quadratic DenseNets: their layers by regression, by descent, and what tells features apart."""
