"""Who performs the cells of a comparison: threads of this machine, or the workers of a Dask cluster.

`crew` is the seam, `local` this machine's. `cluster` is the caller's end of a cluster: `connection` finds a scheduler,
`placement` decides which cell goes to which worker and whom to blame when one dies, `dispatch` sends and hears.
`orders` is what crosses, and `workshop` a worker's end. Only `connection`, `dispatch` and `workshop` speak to Dask.
"""
