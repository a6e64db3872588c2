"""The words that everything else speaks: networks and other teachers, claims, specs, names, statuses, random streams.

Imports nothing of the package but itself, and is all, with the protocol of `oracle` and the method of `contracts`, that
a method needs. Start with `network`, `claims` and `spec`.
"""
