"""The weights of a function of your own, from its values alone.

MODEL is module:function or FILE.py:function (rows in, values out), a TorchScript file, a torch.save'd module (a pickle:
opening it runs the code in it, so --trust is asked for) or its state dict, an .npz of W0, b0, W1, b1, …, an .npy of
[weights, biases] or an .onnx file. What a file tells of its network is shown beside what was found; no method is told.
Exits with 0 where the method finished with a network that misses no value by more than 0.001 of the largest.
"""

import argparse
import json
import math
import re
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from paramid.commands import DONE, FAILED, STOPPED, Add
from paramid.commands.arguments import warn
from paramid.words.naming import UsageError

if TYPE_CHECKING:
    from paramid.identifying.identify import Found

EXAMPLE = "paramid identify model.py:f --inputs 8 --neurons 5 --activation tanh --outer free --out found.npz"
TAKEN = (
    "inputs", "outputs", "activation", "outer", "norms", "output_bias", "shift", "method", "seed", "query_limit",
    "time_limit", "batch", "precision", "progress",
)  # fmt: skip


def arguments(add: Add) -> None:
    """Add the arguments of the command."""
    add("model", metavar="MODEL")
    add("--inputs", type=int, required=True, metavar="D")
    add("--neurons", default="none", metavar="M", help="hidden widths as 5 or 8-4; none (default): found out")
    add("--outputs", type=int, default=1, metavar="N", help="default: 1")
    add(
        "--activation",
        default="auto",
        metavar="NAME",
        help="auto (default) tries the smooth ones; of weights alone: tanh",
    )
    add("--outer", choices=("ones", "free"), default="free", help="outer weights; default: free")
    add("--norms", choices=("unit", "free"), help="of weight vectors; default: unit with outer ones, else free")
    add("--output-bias", choices=("zero", "free"), help="default: zero with outer ones, else free")
    add("--shift", type=float, default=0.5, metavar="S", help="half-width of the shifts' law; default: 0.5")
    add("--method", default="sphere-lm", metavar="METHOD", help="default: sphere-lm")
    add("--seed", type=int, default=0, help="default: 0")
    add(
        "--query-limit",
        type=int,
        metavar="N",
        help="rows for method and tests; 1,000 rows of checks come on top; default: no limit",
    )
    add("--time-limit", type=float, metavar="S", help="seconds after which no row is asked; default: no limit")
    add("--batch", type=int, metavar="N", help="rows of one call of the model at most; default: no limit")
    add("--precision", choices=("float64", "float32"), help="of the model; default: as its values show")
    add("--trust", action="store_true", help="open a pickled module: this runs the code in it")
    add("--json", action="store_true", help="one JSON object and nothing else on stdout")
    add("--out", type=Path, metavar="FILE.npz", help="write the arrays of the network found")


def act(options: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    from paramid.identifying.black_box import BadFunction
    from paramid.identifying.identify import AUTO, identify
    from paramid.identifying.model_files import opened, told

    if options.out is not None and (options.out.is_dir() or not options.out.absolute().parent.is_dir()):
        raise UsageError(f"--out is {options.out}; a file in a folder that is there was wanted")
    neurons, options.progress = widths(options.neurons), not options.json
    known = "tanh" if options.activation == AUTO else options.activation
    f, plain = opened(options.model, activation_name=known, trust=options.trust), told(options.model, known)
    try:
        with redirect_stdout(sys.stderr) if options.json else nullcontext():  # what f prints is no JSON
            found = identify(f, neurons=neurons, **{name: getattr(options, name) for name in TAKEN})
    except BadFunction as error:
        raise UsageError(f"{options.model}: {error}") from error
    except KeyboardInterrupt:
        warn("stopped; nothing was written")
        return STOPPED
    print(json.dumps({**as_json(found), "file": plain}) if options.json else as_options(described(found)))
    if plain and not options.json:
        print(f"the file tells: {plain}")
    if options.out is not None and found.network is not None:
        write(options.out, found)
    return DONE if found.good else FAILED


def widths(text: str) -> tuple[int | None, ...]:
    """The hidden widths of `5`, `8-4` or `none`."""
    if text.lower() == "none":
        return (None,)
    if not all(part.isdigit() for part in text.split("-")):
        raise UsageError(f"--neurons is {text!r}; widths such as 5 or 8-4, or none, were wanted")
    return tuple(int(part) for part in text.split("-"))


def described(found: "Found") -> str:
    """What was found for a person."""
    lines = [f"{found.status.key}: {found.status.value}"]
    lines += [f"reason: {found.reason}"] if found.reason else []
    if found.network is not None:
        shape = "-".join(map(str, (found.network.inputs, *found.network.widths, found.network.outputs)))
        lines.append(f"network: {shape}, {found.network.activations[0]}, residual {found.residual:.1e}")
    lines += [f"obstacle: {told}" for told in found.obstacles]
    spent = f"{found.queries:,} queries, {found.samples:,} samples, {found.seconds:.2f} s"
    return "\n".join([*lines, f"cost: {spent}; values in {found.precision}"])


def as_options(text: str) -> str:
    """A text that says what to try in Python, with the options of the command line instead."""
    names = "neurons|activation|outer|norms|output_bias|precision|method"
    return re.sub(rf'\b({names})="?([\w.-]+)"?', lambda found: f"--{found[1].replace('_', '-')} {found[2]}", text)


def as_json(found: "Found") -> dict[str, object]:
    """What was found as plain values; a residual that there is not is null."""
    network = found.network
    return {
        "status": found.status.key,
        "reason": found.reason,
        "good": found.good,
        "activations": None if network is None else network.activations,
        "widths": None if network is None else network.widths,
        "residual": found.residual if math.isfinite(found.residual) else None,
        "queries": found.queries,
        "samples": found.samples,
        "seconds": found.seconds,
        "precision": found.precision,
        "obstacles": found.obstacles,
    }


def write(path: Path, found: "Found") -> None:
    """The arrays W0, b0, W1, … of the network in a file."""
    import numpy as np

    assert found.network is not None
    with path.open("wb") as file:
        np.savez(file, **{name: value.numpy(force=True) for name, value in found.network.arrays().items()})  # type: ignore[arg-type]  # numpy takes the names for options
