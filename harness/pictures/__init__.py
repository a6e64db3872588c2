"""Records as SVG: curves of errors, growth over sizes, phase maps, over axes and styles that all of them share.

Imports `records`. Start with `curves`.
"""
