"""The leaderboard: a static site from records.

`summary` counts, `standings` and `matrix` are the first page, `pages` those of methods, tasks and families,
`definitions` says how every number is defined and where it comes from, `data_files` writes JSON, CSV and what the
page's script recomputes ranks from, `site` puts them together. `markup` is HTML by hand; style.css and board.js are
what the pages share. Imports `words`, `judging`, `contracts`, `records`, `statistics` and `pictures`. Start with
`summary`.
"""
