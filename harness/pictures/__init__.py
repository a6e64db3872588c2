"""Records as figures of matplotlib: a file a kind, over a sheet and looks that all of them share; `svg` writes them.

Imports `words`, `records` and `statistics`. Start with `plot`.
"""
