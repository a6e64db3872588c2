"""For authors of methods and tasks: `new` writes one that runs, `check` names what breaks the contract.

`probes` are the runs that `check` looks at. Imports `words`, `oracle`, `judging`, `contracts` and `running`. Start with
`check`.
"""
