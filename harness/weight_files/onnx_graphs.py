"""The network in an ONNX model: a chain of MatMul, Gemm and Add with activations between them.

Nothing is run and no other file is opened: weights that lie outside the model are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import erf, expit

from paramid.weight_files.chains import Array, Chain, Value, number
from paramid.weight_files.limits import check_shape
from paramid.words.naming import UsageError
from paramid.words.network import Network

UNARY: Mapping[str, Callable[[Array], Array]] = {
    "Identity": lambda t: t,
    "Cast": lambda t: t,
    "Dropout": lambda t: t,
    "Tanh": np.tanh,
    "Sigmoid": expit,
    "Relu": lambda t: np.maximum(t, 0),
    "Softplus": lambda t: np.logaddexp(t, 0),
    "Erf": erf,
    "Sin": np.sin,
    "Exp": np.exp,
    "Neg": np.negative,
    "Sqrt": np.sqrt,
}
BINARY: Mapping[str, Callable[[Any, Any], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
}
LINEAR = ("MatMul", "Gemm")
KEPT_SHAPE = ("Flatten", "Reshape")  # of rows that are vectors already, nothing


def network(payload: bytes) -> Network:
    """The network of a model's bytes."""
    try:
        import onnx
    except ImportError:
        raise UsageError("onnx is not here: pip install 'paramid[onnx]'") from None
    graph = onnx.load_model_from_string(payload).graph
    constants = {tensor.name: tensor_of(tensor) for tensor in graph.initializer}
    inputs = [given.name for given in graph.input if given.name not in constants]
    if len(inputs) != 1 or not graph.output:
        raise UsageError(f"takes {len(inputs)} inputs and has {len(graph.output)} outputs; one was wanted")
    chain = Chain()
    values: dict[str, Value | Array] = {**constants, inputs[0]: chain.begin}
    for node in graph.node:
        given = [values[name] for name in node.input if name in values]
        if len(given) < sum(bool(name) for name in node.input):
            raise UsageError(f"is no plain network: {node.op_type} is given what nothing made")
        values[node.output[0]] = step(chain, node, given)
    end = values.get(graph.output[0].name)
    if not isinstance(end, Value):
        raise UsageError("is no plain network: its output is none of its values")
    return chain.network(end)


def tensor_of(tensor: Any) -> Array:
    """A constant of the model."""
    from onnx import TensorProto, numpy_helper

    if tensor.data_location == TensorProto.EXTERNAL:
        raise UsageError(f"keeps {tensor.name} in another file; weights within the model were wanted")
    check_shape(tensor.dims, tensor.name)
    return numpy_helper.to_array(tensor)


def step(chain: Chain, node: Any, given: list[Value | Array]) -> Value | Array:
    """What one node makes."""
    kind, options = node.op_type, attributes(node)
    if kind == "Constant" and len(options) == 1:
        (value,) = options.values()
        return np.asarray(value) if isinstance(value, int | float) else tensor_of(value)
    if kind in LINEAR and len(given) > 1 and isinstance(given[0], Value) and isinstance(given[1], np.ndarray):
        return linear(chain, given[0], given[1], given[2:], options)
    if given and isinstance(given[0], Value) and (kind in KEPT_SHAPE or kind in UNARY or kind in WITH_OPTIONS):
        return unary(chain, kind, given[0], options)
    if kind in BINARY and len(given) == 2 and any(isinstance(part, Value) for part in given):
        return binary(chain, kind, *given)
    raise UsageError(f"is no plain network: {kind} is no part of one")


def linear(chain: Chain, value: Value, w: Array, rest: list[Value | Array], options: Mapping[str, Any]) -> Value:
    """MatMul, or Gemm with its factors."""
    if options.get("transA") or not all(isinstance(part, np.ndarray) for part in rest) or w.ndim != 2:
        raise UsageError("is no plain network: a product is not one of a row with weights")
    w = (w.T if options.get("transB") else w) * options.get("alpha", 1.0)
    b = rest[0] * options.get("beta", 1.0) if rest and isinstance(rest[0], np.ndarray) else None
    return chain.linear(value, w, b)


def unary(chain: Chain, kind: str, value: Value, options: Mapping[str, Any]) -> Value:
    """A function of one value."""
    if kind in KEPT_SHAPE or kind in ("Identity", "Cast", "Dropout"):
        return value
    if kind in UNARY:
        return chain.mapped(UNARY[kind], value)
    return chain.mapped(lambda t: WITH_OPTIONS[kind](t, options), value)


def binary(chain: Chain, kind: str, a: Value | Array, b: Value | Array) -> Value:
    """A function of two values, or of one and a constant."""
    if isinstance(a, Value) and isinstance(b, Value):
        return chain.mapped(BINARY[kind], a, b)
    if isinstance(a, Value) and isinstance(b, np.ndarray):
        return chain.shifted(a, b) if kind == "Add" else chain.mapped(lambda t: BINARY[kind](t, number(b)), a)
    assert isinstance(b, Value)
    assert isinstance(a, np.ndarray)
    return chain.shifted(b, a) if kind == "Add" else chain.mapped(lambda t: BINARY[kind](number(a), t), b)


def leaky(t: Array, options: Mapping[str, Any]) -> Array:
    """LeakyRelu."""
    return np.where(t > 0, t, options.get("alpha", 0.01) * t)


def elu(t: Array, options: Mapping[str, Any]) -> Array:
    """Elu."""
    return np.where(t > 0, t, options.get("alpha", 1.0) * np.expm1(np.minimum(t, 0)))


def gelu(t: Array, options: Mapping[str, Any]) -> Array:
    """Gelu, by erf or by tanh."""
    if options.get("approximate", b"none") == b"tanh":
        return t * expit(np.sqrt(8 / np.pi) * (t + 0.044715 * t**3))
    return t * (1 + erf(t / np.sqrt(2))) / 2


WITH_OPTIONS: Mapping[str, Callable[[Array, Mapping[str, Any]], Array]] = {"LeakyRelu": leaky, "Elu": elu, "Gelu": gelu}


def attributes(node: Any) -> dict[str, Any]:
    """The options of a node by name."""
    from onnx import helper

    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
