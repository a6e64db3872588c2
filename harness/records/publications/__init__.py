"""Records that leave a machine or come from one: lines with hashes, the door that checks them, and epochs.

`door` types and bounds every field that somebody else wrote, `lines` are what files hold, `published` the files,
`bundles` what is submitted, `epochs` which of it all ranks, and `reports` compares what was reported with what was
found. Start with `door`, then `epochs`.
"""
