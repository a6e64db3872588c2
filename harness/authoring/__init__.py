"""For authors of methods and tasks: `new` writes one that runs, `check` names what breaks the contract.

`probes` are the runs under observation that `check` is made of. Imports `running` and what is below it.
"""
