"""What many records say together: intervals, costs until a target, ranks and groups, one commit against another.

Imports `words`, `contracts`, `records` and, for the cells of two commits, `running`. Start with `ranking`.
"""
