"""`paramid identify`: somebody's file, its weights back."""

import json
import sys
import textwrap
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import nn

import paramid
from paramid.cli import main

RNG = np.random.default_rng(3)
W, TAU, A, C = RNG.normal(size=(5, 3)) / 2, RNG.uniform(-0.5, 0.5, size=3), np.array([1.0, -0.7, 1.4]), 0.3
SOURCE = textwrap.dedent(
    """
    import numpy as np

    LIMIT = 5

    def f(x):
        with np.load("planted.npz") as a:
            return (np.tanh(x @ a["W0"] + a["b0"]) @ a["W1"])[:, 0] + a["b1"][0]

    def labels(x):
        return f(x) > 0
    """
)


class Module(nn.Module):
    """The network as torch has it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(5, 3), nn.Linear(3, 1)
        with torch.no_grad():
            for to, given in ((self.first.weight, W.T), (self.first.bias, TAU), (self.last.weight, A[None])):
                to.copy_(torch.from_numpy(given))
            self.last.bias.fill_(C)
        self.double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.tanh(self.first(x)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.savez("planted.npz", W0=W, b0=TAU, W1=A[:, None], b1=[C])
    Path("own_model.py").write_text(SOURCE)
    Path("text.pt").write_text("no module")
    np.savez("half.npz", W0=W)
    np.savez("crooked.npz", W0=W, b0=TAU, W1=W, b1=[C])
    torch.save(Module().state_dict(), "state.pt")
    torch.save((Module(),), "tuple.pt")
    torch.save(nn.Sequential(nn.Linear(5, 5), nn.BatchNorm1d(5, affine=False)).state_dict(), "norm.pt")
    yield tmp_path
    sys.modules.pop("own_model", None)


def identified(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["identify", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


TOLD = ["--inputs", "5", "--neurons", "3", "--activation", "tanh"]


@pytest.mark.parametrize("model", ["own_model:f", "own_model.py:f", "planted.npz"])
def test_a_model_comes_back(folder: Path, capsys: pytest.CaptureFixture[str], model: str) -> None:
    code, out, err = identified(capsys, model, *TOLD, "--out", "found.npz", "--json")
    said = json.loads(out)
    assert (code, err, said["status"], said["good"]) == (0, "", "finished", True)
    assert said["widths"] == [3]
    with np.load("found.npz") as a:
        network = ([a["W0"], a["W1"]], [a["b0"], a["b1"]])
    assert paramid.judge(([W, A[:, None]], [TAU, np.array([C])]), network, activation="tanh")["exact"] == 1
    code, out, _ = identified(capsys, "found.npz", "--inputs", "5")  # width and activation are found out
    assert code == 0
    assert "network: 5-3-1, tanh, residual" in out


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_a_scripted_module_comes_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.jit.save(torch.jit.script(Module()), "scripted.pt")
    code, out, _ = identified(capsys, "scripted.pt", *TOLD)
    assert code == 0
    assert "finished" in out


def test_a_pickled_module_is_opened_where_it_is_trusted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layers = nn.Sequential(*Module().children())
    torch.save(nn.Sequential(layers[0], nn.Tanh(), layers[1]), "pickled.pt")
    code, _, err = identified(capsys, "pickled.pt", *TOLD)
    assert (code, err.count("\n")) == (2, 1)
    assert "opening it runs the code in it; --trust" in err
    assert identified(capsys, "pickled.pt", *TOLD, "--trust")[0] == 0


def save_onnx(kind: type[np.floating]) -> None:
    """The network as a model that computes in `kind`."""
    make, numpy_helper = onnx.helper, onnx.numpy_helper
    values = {"W": W, "b": TAU, "a": A[:, None], "c": np.array([C])}
    nodes = [
        make.make_node("MatMul", ["x", "W"], ["p"]),
        make.make_node("Add", ["p", "b"], ["z"]),
        make.make_node("Tanh", ["z"], ["g"]),
        make.make_node("MatMul", ["g", "a"], ["s"]),
        make.make_node("Add", ["s", "c"], ["y"]),
    ]
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    ends = [make.make_tensor_value_info(n, number, ["rows", d]) for n, d in (("x", 5), ("y", 1))]
    given = [numpy_helper.from_array(v.astype(kind), n) for n, v in values.items()]
    graph = make.make_graph(nodes, "g", ends[:1], ends[1:], given)
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=9), "model.onnx")


def test_an_onnx_model_comes_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_onnx(np.float64)
    code, out, _ = identified(capsys, "model.onnx", *TOLD, "--out", "found.npz")
    assert code == 0
    assert "values in float64" in out
    assert out.endswith("the file tells: 5-3-1, tanh\n")
    with np.load("found.npz") as a:
        network = ([a["W0"], a["W1"]], [a["b0"], a["b1"]])
    assert paramid.judge(([W, A[:, None]], [TAU, np.array([C])]), network, activation="tanh")["exact"] == 1


def test_an_onnx_model_of_float32_is_found_or_given_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_onnx(np.float32)
    code, out, _ = identified(capsys, "model.onnx", *TOLD, "--json")
    said = json.loads(out)
    assert said["precision"] == "float32"
    assert (code, said["status"]) in ((0, "finished"), (1, "gave_up"))
    assert said["residual"] is None or said["residual"] < 1e-3


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("model", ["state.pt", "peers.npy"])
def test_weights_alone_are_a_function(folder: Path, capsys: pytest.CaptureFixture[str], model: str, kind: str) -> None:
    if model == "state.pt":
        torch.save({key: value.to(getattr(torch, kind)) for key, value in Module().state_dict().items()}, model)
    else:
        np.save(model, np.array([[W.astype(kind), A[:, None]], [TAU, np.array([C])]], dtype=object))
    code, out, _ = identified(capsys, model, *TOLD, "--json")
    said = json.loads(out)
    assert (code, said["status"], said["file"]) == (0, "finished", "5-3-1")
    assert identified(capsys, "own_model:f", *TOLD, "--json")[1].count('"file": null') == 1


def test_without_onnxruntime_a_line_says_what_to_install(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    Path("model.onnx").write_bytes(b"")
    assert "pip install 'paramid[onnx]'" in identified(capsys, "model.onnx", *TOLD)[2]


def test_what_is_no_such_network_ends_with_a_reason_and_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = identified(capsys, "own_model:labels", *TOLD)
    assert code == 1
    assert "reason: f is piecewise constant" in out
    code, out, _ = identified(capsys, "own_model:f", "--inputs", "5", "--neurons", "4", "--json")
    assert (code, json.loads(out)["residual"]) == (1, None)


BAD = [
    ("nowhere.pt", "'nowhere.pt' is no file; module:function, FILE.py:function"),
    ("nowhere:f", "nowhere cannot be imported: ModuleNotFoundError"),
    ("nowhere.py:f", "nowhere.py is no file; a Python file was wanted"),
    ("own_model:g", "own_model has no 'g'; there are f, labels"),
    ("own_model:LIMIT", "own_model:LIMIT is a int; a function was wanted"),
    ("text.pt", "text.pt is none of module:function"),
    ("tuple.pt --trust", "tuple.pt holds a tuple; a torch.nn.Module or its state_dict was wanted"),
    ("tuple.pt", "tuple.pt is a pickle, and opening it runs the code in it; --trust"),
    ("norm.pt", "norm.pt holds 1.running_mean of shape (5,); linear layers alone were wanted"),
    ("half.npz", "half.npz holds W0; W0, b0, W1, b1, … were wanted"),
    ("crooked.npz", "crooked.npz: layer 1: weights (5, 3)"),
    ("own_model:f --neurons four", "--neurons is 'four'; widths such as 5 or 8-4, or none, were wanted"),
    ("own_model:f --neurons 0", "neurons is 0; a whole number from 1 was wanted"),
    ("own_model:f --inputs 0", "inputs is 0"),
    ("own_model:f --inputs 4", "own_model:f: f raised ValueError"),
    ("own_model:f --activation tahn", "unknown activation 'tahn'; did you mean tanh"),
    ("own_model:f --outer twos", "invalid choice: 'twos'"),
    ("own_model:f --batch 0", "batch is 0; a whole number from 1 was wanted"),
    ("own_model:f --time-limit 0", "time_limit is 0.0; a positive number of seconds was wanted"),
    ("own_model:f --query-limit 0", "query_limit is 0"),
    ("own_model:f --precision float16", "invalid choice: 'float16'"),
    ("own_model:f --method truth", "truth is a control"),
    ("own_model:f --out /nowhere/at/all.npz", "a file in a folder that is there was wanted"),
]


@pytest.mark.parametrize(("words", "said"), BAD)
def test_errors_are_one_line(folder: Path, capsys: pytest.CaptureFixture[str], words: str, said: str) -> None:
    model, *rest = words.split()
    code, out, err = identified(capsys, model, "--inputs", "5", *rest)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


def test_help_names_every_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["identify", "--help"])
    told = " ".join(capsys.readouterr().out.partition("options:")[2].split())
    for option in ("neurons", "outputs", "activation", "outer", "norms", "output-bias", "shift", "method", "seed",
                   "query-limit", "time-limit", "batch", "precision"):  # fmt: skip
        assert "default" in told.split(f" --{option} ")[1].partition(" --")[0], option


def test_the_code_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[1] / "docs" / "identify.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    exec(compile(code, "identify.md", "exec"), {"__name__": "page"})
    found, reason = capsys.readouterr().out.splitlines()
    assert found.startswith("Found(FINISHED: tanh network 6-4-1")
    assert "try neurons=4" in reason


NOISY = """
import sys

import own_model


def leaves(x):
    sys.exit(4)


def says(x):
    print("hello")
    return own_model.f(x)


def fails(x):
    raise ValueError("my bug\\nline two")
"""


def test_what_a_function_prints_or_leaves_with_stays_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "noisy_model.py").write_text(NOISY)
    for name, wanted in (("leaves", "f raised SystemExit: 4"), ("fails", "f raised ValueError: my bug")):
        code, out, err = identified(capsys, f"noisy_model:{name}", "--inputs", "5")
        assert (code, out, err) == (2, "", f"paramid: noisy_model:{name}: {wanted}\n")
    code, out, err = identified(capsys, "noisy_model:says", *TOLD, "--json")
    assert (code, json.loads(out)["status"], "hello" in err) == (0, "finished", True)


def test_reasons_speak_of_the_options_of_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = identified(capsys, "own_model:f", "--inputs", "5", "--neurons", "4", "--activation", "tanh")
    assert "try --neurons 3" in out
    assert "neurons=" not in out
