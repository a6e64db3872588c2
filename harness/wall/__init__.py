"""The wall between a method and the truth: two processes a cell, and between them frames of numbers.

The warden's side holds teacher, books, clock and judge (`serving`, `custody`); the method's side holds the method and a
proxy of the oracle (`method_process`, `proxy`), in a jail (`jail`, `cgroups`) whose keeper (`keeper`) stops it, lets it
go on and ends it. Imports `words`, `oracle` and `contracts`. Start with `frames`.
"""
