"""The only way to a teacher: what a method sees of it (`protocol`, `samples`) and who counts every row (`counting`).

`black_box` makes a teacher of somebody's own function, `model_files` finds it; `misfits` says which assumption about it
fails, by `measurements` and at `far_field`. Imports `words`. Start with `protocol`.
"""
