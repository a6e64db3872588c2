"""From names to records: a cell is planned, runs behind the wall, is judged, and ends as a record.

`run` and `compare` are the doors; `verification` runs records again. `supervisor` has the two processes of a cell
forked; `warden` is one of them, and `inside_cell` what happens in it. Tasks and methods are found by name; plug-ins are
asked by `surveyor`. Imports `words`, `limits`, `oracle`, `judging`, `contracts`, `records` and `wall`. Start with
`cell`, then `inside_cell`.
"""
