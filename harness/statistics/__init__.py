"""What many records say together: intervals, costs until a target, ranks and groups, one commit against another.

Imports `records`, and `running` for cells of two commits. Start with `ranking`.
"""
