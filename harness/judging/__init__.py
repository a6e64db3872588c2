"""How far a claim is from the truth, modulo what no oracle can see, and what every number means.

`claim_scores` judges claims about networks; families whose teachers are something else judge by `threshold_unit_errors`
and `densenet_errors` themselves. `metrics` says what each number is, `obstacles` names what nobody can tell apart,
`judge` compares anybody's two networks. Imports `words` and `limits`. Start with `claim_scores`.
"""
