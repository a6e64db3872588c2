"""A family of teachers in a few words, and in a line of mathematics: the first formula of its module, as HTML."""

from __future__ import annotations

import re

from paramid.board.markup import escaped
from paramid.contracts import descriptions

PLAIN = {
    "shallow": "one wide hidden layer: tanh, erf, …",
    "threshold": "units with a threshold under a polynomial",
    "biased-relu": "one hidden layer of ReLUs, from samples",
    "relu": "ReLU networks of any depth",
    "pyramid": "deep networks: tanh, logistic, erf",
    "quadratic": "squares, before wider learners",
    "hierarchy": "deep quadratic networks with skips",
    "images": "real images and their labels",
    "trained": "networks as training leaves them",
    "file": "the network in a file",
}
LAW = re.compile("~|‖|uniform|normal| or |^l = ")  # clauses about what is drawn, or for which layers


def formula(family: str) -> str:
    """(1) of what the family says of itself, without its laws; empty where nobody here knows it."""
    source = descriptions.of("tasks", family)
    told = re.search(r"\(1\)\s+(.*(?:\n {9,}.*)*)", source.words) if source else None
    if not told:
        return ""
    clauses = [re.sub(" ∈ R.*", "", c.strip(" ,.;")) for c in re.split(r",\s{2,}|,?\n", told[1]) if c.strip()]
    kept = [c for c in clauses if not LAW.search(c) and "=" in c] or clauses[:1]
    if source and not any("f(x)" in c for c in kept) and (whole := re.search(r"f\(x\) = .*?(?=,\s)", source.words)):
        kept.append(whole[0])
    return ", ".join(map(typeset, kept))


def plain(family: str) -> str:
    """What a reader would call the family; the first line of its class where no words were chosen."""
    source = descriptions.of("tasks", family)
    return PLAIN.get(family, source.line if source else "")


def typeset(words: str) -> str:
    """Subscripts and powers: `w_k`, `W_{l-1}`, `R^D`, `S_l^{(2)}`."""
    text = re.sub(r"(?<=\w)-(?=\w)", "−", escaped(words).replace(" - ", " − "))
    text = re.sub(r"_\{([^}]*)\}|_([\w*])", lambda m: f"<sub>{(m[1] or m[2]).replace('_', '')}</sub>", text)
    return re.sub(r"\^\{([^}]*)\}|\^([\w*])", lambda m: f"<sup>{m[1] or m[2]}</sup>", text)
