"""Training as scikit-learn does it: MLPRegressor and MLPClassifier with their defaults and at most 500 epochs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module

import numpy as np
import torch
from torch import Tensor

from paramid.words.network import Network

NAMES = {"tanh": "tanh", "logistic": "logistic", "relu": "relu"}  # ours and theirs
EPOCHS = 500


def fit(x: Tensor, y: Tensor, widths: Sequence[int], activation: str, dtype: torch.dtype, seed: int) -> Network:
    """The network that training leaves; a classifier's where `y` are classes (rows,). Of two classes it has one output.

    All 63 bits of `seed` are in its start.
    """
    kind = "MLPClassifier" if y.ndim == 1 else "MLPRegressor"
    model = getattr(import_module("sklearn.neural_network"), kind)(
        hidden_layer_sizes=tuple(widths),
        activation=NAMES[activation],
        max_iter=EPOCHS,
        random_state=np.random.RandomState(np.random.MT19937(seed)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it could train longer is no news
        model.fit(x.to(dtype).numpy(), answers(y, dtype))
    weights, biases = (
        tuple(torch.from_numpy(np.array(a, dtype=np.float64)).to(dtype) for a in arrays)
        for arrays in (model.coefs_, model.intercepts_)
    )
    return Network(weights, biases, (activation,) * len(widths) + ("identity",))


def answers(y: Tensor, dtype: torch.dtype) -> np.ndarray:
    """Numbers or classes as a model takes them."""
    if y.ndim == 1:
        return y.numpy()
    return (y[:, 0] if y.shape[1] == 1 else y).to(dtype).numpy()
