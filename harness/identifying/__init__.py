"""Somebody's own function before the methods of the registry, in the caller's process: found, or why not.

`identify` is the door. `black_box` makes a teacher of a function, `model_files` finds one in a file; `attempts` lets
methods try; `misfits` says which assumption about a function fails, by `measurements` and at its `far_field`. Imports
`words`, `weight_files`, `oracle`, `judging` and `contracts`. Start with `identify`.
"""
