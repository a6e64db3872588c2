"""How far a claim is from the truth, modulo what no oracle can see, and what every number means.

`claim_scores` is the door: it knows which file judges which claim; `metrics` says what each number is; `obstacles`
names what nobody can tell apart; `judge` compares anybody's two networks. Imports `words`. Start with `claim_scores`.
"""
