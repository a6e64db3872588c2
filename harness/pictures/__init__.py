"""Records as SVG: curves of errors, growth over sizes, phase maps, over axes and styles that all of them share.

Imports `words` and `records`. Start with `curves`.
"""
