"""Weights in files: every format gives the same function, and what is broken or hostile ends in one line."""

import io
import os
import pickle
import struct
import warnings
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import nn

from paramid.weight_files import limits, reader
from paramid.weight_files.chains import GRID, Chain, recognised
from paramid.words.activations import ACTIVATIONS
from paramid.words.naming import UsageError

F64 = torch.float64
RNG = np.random.default_rng(5)
A = [RNG.normal(size=(5, 4)), RNG.normal(size=(4, 3)), RNG.normal(size=(3, 2))]
B = [RNG.normal(size=n) for n in (4, 3, 2)]
X = torch.from_numpy(RNG.normal(size=(40, 5)))
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


class Erf(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.erf(x)


class HomeMadeGelu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 0.5 * x * (1 + torch.erf(x / 1.4142135))


class HomeMadeSilu(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)


MODULES = {
    "tanh": nn.Tanh(), "logistic": nn.Sigmoid(), "relu": nn.ReLU(), "leaky-relu": nn.LeakyReLU(), "elu": nn.ELU(),
    "gelu": nn.GELU(), "gelu-tanh": nn.GELU(approximate="tanh"), "silu": nn.SiLU(), "softplus": nn.Softplus(),
    "erf": Erf(),
}  # fmt: skip


def module(g: nn.Module, *more: nn.Module) -> nn.Sequential:
    made = nn.Sequential(nn.Linear(5, 4), g, nn.Linear(4, 3), g, nn.Linear(3, 2), *more).double().eval()
    with torch.no_grad():
        for layer, w, b in zip((made[0], made[2], made[4]), A, B, strict=True):
            layer.weight.copy_(torch.from_numpy(w.T))
            layer.bias.copy_(torch.from_numpy(b))
    return made


def peers() -> np.ndarray:
    held = np.empty((2, 3), dtype=object)
    held[0], held[1] = A, B
    return held


def graph(kind: str, *, gemm: bool = False, **options: object) -> onnx.ModelProto:
    make = onnx.helper
    nodes, value = [], "x"
    for layer in range(3):
        if gemm:
            nodes.append(make.make_node("Gemm", [value, f"W{layer}", f"b{layer}"], [f"z{layer}"], transB=1))
        else:
            nodes.append(make.make_node("MatMul", [value, f"W{layer}"], [f"p{layer}"]))
            nodes.append(make.make_node("Add", [f"b{layer}", f"p{layer}"], [f"z{layer}"]))
        value = f"z{layer}"
        if layer < 2:
            nodes.append(make.make_node(kind, [value], [f"h{layer}"], **options))
            value = f"h{layer}"
    given = {f"W{k}": a.T.copy() if gemm else a for k, a in enumerate(A)} | {f"b{k}": b for k, b in enumerate(B)}
    ends = [make.make_tensor_value_info(n, onnx.TensorProto.DOUBLE, ["n", d]) for n, d in (("x", 5), (value, 2))]
    weights = [onnx.numpy_helper.from_array(a, n) for n, a in given.items()]
    return make.make_model(make.make_graph(nodes, "g", ends[:1], ends[1:], weights), ir_version=9)


def saved(name: str, folder: Path) -> Path:
    """The tanh network in one of the formats."""
    path = folder / name
    if name == "m.npz":
        np.savez(path, **{f"W{k}": a for k, a in enumerate(A)}, **{f"b{k}": b for k, b in enumerate(B)})
    elif name == "m.npy":
        np.save(path, peers())
    elif name.endswith(".onnx"):
        onnx.save(graph("Tanh", gemm=name == "gemm.onnx"), path)
    elif name == "state.pt":
        torch.save(module(nn.Tanh()).state_dict(), path)
    elif name == "checkpoint.pt":
        torch.save({"epoch": 3, "model_state_dict": module(nn.Tanh()).state_dict()}, path)
    else:
        torch.jit.save(scripted(module(nn.Tanh()), name), path)
    return path


def scripted(made: nn.Module, how: str) -> torch.jit.ScriptModule:
    if how == "traced.pt":
        return torch.jit.trace(made, X)
    return torch.jit.freeze(torch.jit.script(made)) if how == "frozen.pt" else torch.jit.script(made)


FORMATS = [
    "m.npz", "m.npy", "m.onnx", "gemm.onnx", "state.pt", "checkpoint.pt", "scripted.pt", "traced.pt", "frozen.pt",
]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_the_same_function(name: str, tmp_path: Path) -> None:
    path = saved(name, tmp_path)
    found = reader.read(path)
    assert float((found.network(X) - module(nn.Tanh())(X).detach()).abs().max()) < 1e-14
    assert found.tells_activations == (name not in ("m.npz", "m.npy", "state.pt", "checkpoint.pt"))
    assert found.told.startswith("5-4-3-2")
    assert reader.read(path, "relu").network.activations[0] == ("tanh" if found.tells_activations else "relu")


@pytest.mark.parametrize("name", MODULES)
def test_activations_are_read_from_torchscript(name: str, tmp_path: Path) -> None:
    made = module(MODULES[name])
    torch.jit.save(torch.jit.script(made), tmp_path / "m.pt")
    network = reader.read(tmp_path / "m.pt").network
    assert network.activations == (name, name, "identity")
    assert float((network(X) - made(X).detach()).abs().max()) < 1e-8


@pytest.mark.parametrize(("g", "name"), [(HomeMadeGelu(), "gelu"), (HomeMadeSilu(), "silu")])
def test_activations_that_are_written_out_are_recognised(g: nn.Module, name: str, tmp_path: Path) -> None:
    torch.jit.save(torch.jit.script(module(g)), tmp_path / "m.pt")
    assert reader.read(tmp_path / "m.pt").network.activations[0] == name


NODES = [
    ("Tanh", {}, "tanh"), ("Sigmoid", {}, "logistic"), ("Relu", {}, "relu"),
    ("LeakyRelu", {"alpha": 0.01}, "leaky-relu"),
    ("Elu", {"alpha": 1.0}, "elu"), ("Softplus", {}, "softplus"), ("Erf", {}, "erf"), ("Sin", {}, "sine"),
    ("Gelu", {}, "gelu"), ("Gelu", {"approximate": "tanh"}, "gelu-tanh"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "options", "name"), NODES)
def test_activations_are_read_from_onnx(kind: str, options: dict[str, object], name: str, tmp_path: Path) -> None:
    onnx.save(graph(kind, **options), tmp_path / "m.onnx")
    assert reader.read(tmp_path / "m.onnx").network.activations[:2] == (name, name)


def test_every_activation_is_recognised_and_no_other() -> None:
    for name, g in ACTIVATIONS.items():
        assert recognised(g(torch.from_numpy(GRID)).numpy()) == name
    with pytest.raises(UsageError, match="none of tanh, logistic"):
        recognised(np.tanh(1.001 * GRID))


def test_two_linear_layers_are_one() -> None:
    chain = Chain()
    value = chain.linear(chain.linear(chain.begin, A[0], B[0]), A[1], None)
    network = chain.network(value)
    assert network.widths == ()
    assert torch.allclose(network(X), (X @ torch.from_numpy(A[0]) + torch.from_numpy(B[0])) @ torch.from_numpy(A[1]))


class Ran(Exception):
    """A file's code has run."""


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("touch ran",)


class Skip(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(5, 5).double(), nn.Linear(5, 5).double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.a(x))
        return torch.tanh(self.b(h)) + h


def object_array(payload: bytes) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": (2,)})
    return file.getvalue() + payload


def member(header: dict[str, object], body: bytes = b"") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + body


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, body in members.items():
            made.writestr(f"{name}.npy", body)
    return file.getvalue()


def lists_in_lists() -> bytes:
    """A thousand million million leaves in a few hundred bytes."""
    made: object = [1.0] * 100
    for _ in range(8):
        made = [made] * 100
    return pickle.dumps(made, protocol=4)


def outside() -> bytes:
    made = graph("Tanh")
    tensor = made.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    return made.SerializeToString()


def huge_tensor() -> bytes:
    made = graph("Tanh")
    made.graph.initializer[0].dims[:] = [10**9, 10**9]
    return made.SerializeToString()


def state(made: object) -> bytes:
    file = io.BytesIO()
    torch.save(made, file)
    return file.getvalue()


def script(made: nn.Module) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(made.eval()), file)
    return file.getvalue()


WIDE = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
BAD: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "code in .npy": ("m.npy", lambda: object_array(pickle.dumps([Evil(), 1])), "names posix.system; arrays of numbers"),
    "code in .npy, protocol 0": ("m.npy", lambda: object_array(pickle.dumps([Evil()], protocol=0)), "arrays of"),
    "code in a state dict": ("m.pt", lambda: state({"0.weight": Evil()}), "a pickle of more than tensors"),
    "a pickled module": ("m.pt", lambda: state(module(nn.Tanh())), "save the module's state_dict"),
    "a place too far": ("m.npy", lambda: object_array(b"\x80\x04Nr" + struct.pack("<I", 2**31 - 1) + b"."), "places"),
    "lists in lists": ("m.npy", lambda: object_array(lists_in_lists()), "lists in lists"),
    "many of one": ("m.npy", lambda: object_array(pickle.dumps([[[[1.0] * 999] * 999] * 999] * 2)), "lists in lists"),
    "a dict": ("m.npy", lambda: object_array(pickle.dumps({"a": 1})), "is a pickle with EMPTY_DICT"),
    "no pickle": ("m.npy", lambda: object_array(b"\x80\x04K"), "cannot be read"),
    "one array": ("m.npy", lambda: member({**WIDE, "shape": (1,)}, bytes(8)), "[weights, biases]"),
    "a huge shape": ("m.npz", lambda: archive(W0=member(WIDE), b0=member(WIDE)), "an eighth of the memory"),
    "a cut array": ("m.npz", lambda: archive(W0=member({**WIDE, "shape": (3, 3)}), b0=b""), "W0 is cut off"),
    "objects": ("m.npz", lambda: archive(W0=member({**WIDE, "descr": "|O", "shape": (1, 1)}), b0=b""), "real numbers"),
    "complex": ("m.npz", lambda: archive(W0=member({**WIDE, "descr": "<c16"}), b0=b""), "holds complex128"),
    "no archive": ("m.npz", lambda: b"PK\x03\x04", "cannot be read: BadZipFile"),
    "text": ("m.pt", lambda: b"hello", "is no file that torch.save"),
    "another archive": ("m.pt", lambda: archive(W0=b""), "is an archive, but none of torch"),
    "a folder of weights elsewhere": ("m.onnx", outside, "keeps W0 in another file"),
    "a huge tensor": ("m.onnx", huge_tensor, "an eighth of the memory"),
    "no model": ("m.onnx", lambda: b"hello", "cannot be read"),
    "an empty model": ("m.onnx", lambda: b"", "takes 0 inputs"),
    "softmax": ("m.onnx", lambda: graph("Softmax").SerializeToString(), "Softmax is no part of one"),
    "a skip": ("m.pt", lambda: script(Skip()), "values of several layers meet"),
    "a steeper leak": ("m.pt", lambda: script(module(nn.LeakyReLU(0.2))), "has an activation that is none of"),
    "a convolution": ("m.pt", lambda: script(nn.Conv1d(1, 1, 1).double()), "is no plain network"),
    "nan": ("m.pt", lambda: state({"weight": torch.full((2, 2), torch.nan)}), "non-finite"),
    "crooked": ("m.pt", lambda: state({f"{n}.weight": torch.ones(2, 3) for n in "ab"}), "layer 1: weights"),
    "wide without numbers": ("m.pt", lambda: state({"weight": torch.ones(1, 1).expand(10**6, 10**6)}), "an eighth"),
    "nothing": ("m.pt", lambda: state({}), "biases without weights, or nothing"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_broken_or_hostile_ends_in_one_line(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, make, said = BAD[case]
    Path(name).write_bytes(make())
    with pytest.raises(UsageError) as caught:
        reader.read(name)
    assert said in str(caught.value)
    assert str(caught.value).startswith(name)
    assert "\n" not in str(caught.value)
    assert not Path("ran").exists()


def test_the_hostile_pickles_would_run_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.npy").write_bytes(object_array(pickle.dumps([Evil(), 1])))
    np.load("m.npy", allow_pickle=True)
    assert Path("ran").exists()


def test_a_bomb_is_refused_by_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "room", lambda: 8 * 10**6)
    path = tmp_path / "m.npz"
    path.write_bytes(archive(W0=bytes(10**7), b0=b""))
    assert path.stat().st_size < 10**5
    with pytest.raises(UsageError, match="the archive, unpacked, has"):
        reader.read(path)
    (tmp_path / "large.onnx").write_bytes(bytes(10**7))
    with pytest.raises(UsageError, match="the file has"):
        reader.read(tmp_path / "large.onnx")


@pytest.mark.parametrize("name", ["/dev/zero", ".", "nowhere.npz"])
def test_what_is_no_file_is_not_opened(name: str) -> None:
    with pytest.raises(UsageError, match="is no file"):
        reader.read(name)


@pytest.mark.parametrize("name", ["m.npz", "m.npy", "m.onnx", "state.pt"])
def test_any_damage_is_a_network_or_one_line(name: str, tmp_path: Path) -> None:
    whole = saved(name, tmp_path).read_bytes()
    source = np.random.default_rng(1)
    for trial in range(60):
        damaged = bytearray(whole[: int(source.integers(len(whole)))] if trial % 2 else whole)
        for place in source.integers(len(whole), size=3):
            if place < len(damaged):
                damaged[place] = int(source.integers(256))
        path = tmp_path / f"{trial}-{name}"
        path.write_bytes(damaged)
        with suppress(UsageError):
            network = reader.read(path).network
            assert len(network(X[:, :1].expand(-1, network.inputs))) == len(X)
