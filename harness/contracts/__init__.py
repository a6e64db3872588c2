"""What an author writes, a `Method` or a `Task`, and how a name finds it: the registry, plug-ins, the two controls.

Imports `words`, `oracle` and `judging`; tasks and methods stand on it. Start with `method`; a new method or family is a
line in `registry`.
"""
