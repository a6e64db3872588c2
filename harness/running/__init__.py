"""From names to records: a cell is planned, runs in a child process, is judged there, and ends as a record.

`run` and `compare` are the doors; `verification` runs records again. `supervisor` starts children through
`fork_server` and kills them; `inside_cell` is what happens inside one. Tasks and methods are found by name. Imports
`words`, `oracle`, `judging`, `contracts` and `records`. Start with `cell`, then `inside_cell`.
"""
