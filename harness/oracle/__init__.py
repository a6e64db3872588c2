"""The only way to a teacher: what a method sees of it (`protocol`, `samples`) and who counts every row (`counting`).

Imports `words`. Start with `protocol`.
"""
