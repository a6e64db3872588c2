"""The words that everything else speaks: networks and other teachers, claims, specs, names, statuses, random streams.

With the protocol of `oracle` and the method of `contracts` it is all that a method needs. Imports no other folder.
Start with `network`, `claims` and `spec`.
"""
