"""The network in a file of torch: a TorchScript module that is a plain one, or the state dict of linear layers.

Of a TorchScript file the frozen graph is read, in which weights are constants: nothing is evaluated but activations, on
a grid. A state dict is read by torch's own unpickler of tensors alone (`weights_only`); its layers are taken in the
order in which they stand, and their activations are nowhere said.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from paramid.weight_files.arrays import network
from paramid.weight_files.chains import Array, Chain, Value, number
from paramid.weight_files.limits import check_shape, checked_zip
from paramid.words.naming import UsageError
from paramid.words.network import Network


class CodeInside(UsageError):
    """A pickle that holds more than tensors: opening it would run what it names."""


UNARY: Mapping[str, Callable[..., Tensor]] = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "erf": torch.erf,
    "sin": torch.sin,
    "exp": torch.exp,
    "neg": torch.neg,
    "silu": functional.silu,
    "gelu": lambda t, approximate="none": functional.gelu(t, approximate=approximate),
    "elu": lambda t, alpha=1.0, scale=1.0, inner=1.0: functional.elu(inner * t, alpha) * scale,
    "leaky_relu": lambda t, slope=0.01: functional.leaky_relu(t, slope),
    "softplus": lambda t, beta=1.0, threshold=20.0: functional.softplus(t, beta, threshold),
}
BINARY: Mapping[str, Callable[[Any, Any], Array]] = {"mul": np.multiply, "div": np.divide, "pow": np.power}
UNCHANGED = ("dropout", "flatten", "detach", "to", "contiguous", "clone")
WRAPPED = ("state_dict", "model_state_dict", "model")  # where checkpoints keep one


def is_script(payload: bytes) -> bool:
    """Whether this is TorchScript; a UsageError where it is no file of torch at all."""
    if not payload.startswith(b"PK"):
        raise UsageError("is no file that torch.save or torch.jit.save writes today")
    with checked_zip(payload) as archive:
        names = archive.namelist()
    if not any(name.endswith("data.pkl") for name in names):
        raise UsageError("is an archive, but none of torch")
    return any(name.endswith("constants.pkl") for name in names)


def of_script(payload: bytes) -> Network:
    """The network of a TorchScript module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is old
        module = torch.jit.load(BytesIO(payload), map_location="cpu").eval()
        frozen = torch.jit.freeze(module) if hasattr(module, "training") else module
    graph = frozen.graph
    _, *inputs = graph.inputs()
    if len(inputs) != 1:
        raise UsageError(f"takes {len(inputs)} inputs; one was wanted")
    chain = Chain()
    values: dict[str, Any] = {inputs[0].debugName(): chain.begin}
    for node in graph.nodes():
        given = [values.get(part.debugName()) for part in node.inputs()]
        values[node.output().debugName()] = step(chain, node, given)
    (end,) = (values.get(out.debugName()) for out in graph.outputs())
    if not isinstance(end, Value):
        raise UsageError("is no plain network: its output is none of its values")
    return chain.network(end)


def step(chain: Chain, node: Any, given: Sequence[Any]) -> Any:
    """What one node makes."""
    kind = node.kind().partition("::")[2].rstrip("_")
    if kind == "Constant":
        return node.output().toIValue()
    if not any(isinstance(part, Value) for part in given):
        if kind == "t" and isinstance(given[0], Tensor):
            return given[0].T
        raise UsageError(f"is no plain network: {node.kind()} is no part of one")
    if kind in ("linear", "matmul", "mm", "addmm"):
        return linear(chain, kind, given)
    if kind in UNCHANGED:
        return given[0]
    if kind in UNARY:
        return chain.mapped(lambda t: UNARY[kind](torch.from_numpy(t), *given[1:]).numpy(), given[0])
    if kind in ("add", "sub") and given[2:] in ([], [1]):
        return added(chain, given[0], given[1], 1 if kind == "add" else -1)
    if kind in BINARY:
        return combined(chain, BINARY[kind], given[0], given[1])
    raise UsageError(f"is no plain network: {node.kind()} is no part of one")


def linear(chain: Chain, kind: str, given: Sequence[Any]) -> Value:
    """X Wᵀ + b of `linear`, x W of `matmul`, b + x W of `addmm`."""
    x, w, b = (
        (given[1], given[2], given[0]) if kind == "addmm" else (given[0], given[1], given[2] if given[2:] else None)
    )
    if not isinstance(x, Value) or not isinstance(w, Tensor) or not (b is None or isinstance(b, Tensor)):
        raise UsageError("is no plain network: a product is not one of a row with weights")
    return chain.linear(x, as_array(w.T if kind == "linear" else w), None if b is None else as_array(b))


def added(chain: Chain, a: Any, b: Any, sign: int) -> Value:
    """A ± b, of which one may be constant."""
    if isinstance(a, Value) and isinstance(b, Value):
        return chain.mapped(lambda s, t: s + sign * t, a, b)
    if isinstance(a, Value):
        return chain.shifted(a, sign * as_array(b))
    return chain.shifted(b if sign == 1 else chain.mapped(np.negative, b), as_array(a))


def combined(chain: Chain, h: Callable[[Any, Any], Array], a: Any, b: Any) -> Value:
    """A function of two values, or of one and a number."""
    if isinstance(a, Value) and isinstance(b, Value):
        return chain.mapped(h, a, b)
    if isinstance(a, Value):
        return chain.mapped(lambda t: h(t, number(as_array(b))), a)
    return chain.mapped(lambda t: h(number(as_array(a)), t), b)


def as_array(value: Any) -> Array:
    """A constant as an array."""
    if isinstance(value, Tensor):
        check_shape(value.shape, "a constant")
        return value.detach().to(device="cpu", dtype=torch.float64).numpy()
    if isinstance(value, int | float):
        return np.asarray(float(value))
    raise UsageError(f"is no plain network: a {type(value).__name__} is added or multiplied")


def of_state(payload: bytes, name: str) -> Network:
    """The network of a state dict, with this activation."""
    try:
        state = torch.load(BytesIO(payload), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CodeInside("is a pickle of more than tensors: save the module's state_dict(), or TorchScript") from error
    if isinstance(state, dict) and (inside := [state[key] for key in WRAPPED if isinstance(state.get(key), dict)]):
        state = inside[0]
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise UsageError(f"holds a {type(state).__name__}; a state dict of linear layers was wanted")
    weights, biases = layers(state)
    return network(weights, biases, name)


def layers(state: Mapping[str, Tensor]) -> tuple[list[Array], list[Array]]:
    """Weights (in, out) and biases of a state dict, layer by layer."""
    weights: dict[str, Array] = {}
    biases: dict[str, Array] = {}
    for key, value in state.items():
        place, _, part = str(key).rpartition(".")
        if part not in ("weight", "bias") or value.ndim != (2 if part == "weight" else 1):
            raise UsageError(f"holds {str(key)[:60]} of shape {tuple(value.shape)}; linear layers alone were wanted")
        (weights if part == "weight" else biases)[place] = as_array(value)
    if not weights or not biases.keys() <= weights.keys():
        raise UsageError("holds biases without weights, or nothing")
    given = [(w.T, biases.get(place, np.zeros(len(w)))) for place, w in weights.items()]
    return [w for w, _ in given], [b for _, b in given]
