"""What the paper on biased ReLUs asserts with a number, computed: one small function a statement, with a fixed seed.

Together they take about half a minute.
"""
