"""The judge: how far a claim is from the true claim of its kind, modulo what no oracle can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramid.judging.aligned_networks import score_network
from paramid.judging.metrics import Metrics, Unjudgeable
from paramid.judging.spans_and_directions import score_directions, score_entangled, score_gram, score_subspace
from paramid.words.claims import Claim, Directions, EntangledWeights, Gram, Subspace, presented
from paramid.words.network import Network

if TYPE_CHECKING:
    from paramid.words.spec import Spec


def score(truth: Claim, claim: Claim) -> Metrics:
    """Every metric of a claim against the true claim of the same kind."""
    claim = claim.copy()
    if reason := claim.non_finite():
        raise Unjudgeable(f"{type(claim).__name__}: {reason}")
    if isinstance(truth, Network) and isinstance(claim, Network):
        return score_network(truth, claim)
    if isinstance(truth, Directions) and isinstance(claim, Directions):
        return score_directions(truth.columns, claim.columns)
    if isinstance(truth, Subspace) and isinstance(claim, Subspace):
        return score_subspace(truth.basis, claim.basis)
    if isinstance(truth, EntangledWeights) and isinstance(claim, EntangledWeights):
        return score_entangled(truth, claim)
    if isinstance(truth, Gram) and isinstance(claim, Gram):
        return score_gram(truth.matrix, claim.matrix)
    raise Unjudgeable(f"a {type(claim).__name__} cannot be judged against a {type(truth).__name__}")


def accept(claim: object, spec: Spec) -> tuple[Claim, dict[str, float]]:
    """A copy of a claim that can be judged, and the method's own words as numbers."""
    try:
        return presented(claim, spec)
    except ValueError as error:
        raise Unjudgeable(str(error)) from error
