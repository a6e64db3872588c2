"""What a cell became, kept: the record, its key, the store, published files and bundles, and which records are meant.

No cell runs here. Imports `words`, `judging` and `contracts`. Start with `record`, then `store`.
"""
