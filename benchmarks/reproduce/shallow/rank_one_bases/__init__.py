"""Chapter 2 of the thesis in numbers: incoherence, near-rank-one matrices, and the maxima of Φ(u) = ‖P(u uᵀ)‖².

Constants that the thesis leaves open are taken as 1, and said so.
"""
