"""What an author writes, a `Method` or a `Task`, and how a name finds it: the registry, plug-ins, the two controls.

Tasks and methods stand on it: a new one is a line in `registry`. Imports `words`, `oracle` and `judging`. Start with
`method`.
"""
