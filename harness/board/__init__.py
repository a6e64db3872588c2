"""The leaderboard: a static site from records.

`summary` counts, `family` is the first page (`cards`, a `section` for each) and the pages of families, `pages` those of
methods and tasks, `pairwise_page` compares any two methods, `history` tells steps over commits, `definitions` says how
every number is defined and where it comes from, `data_files` writes JSON and CSV, `site` puts them together. `markup`
is HTML by hand; style.css and shared.js are what the pages share, front.js and pairwise.js of one page each. Imports
`words`, `judging`, `contracts`, `records`, `statistics` and `pictures`. Start with `summary`.
"""
