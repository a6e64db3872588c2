"""How far from the limit: what values can say of a network's parameters at best, whoever asks for them.

`bound` is the Cramér-Rao bound, from the `information` that values carry. Imports `words`. Start with `cramer_rao`.
"""

from paramid.limits.cramer_rao import bound as bound
