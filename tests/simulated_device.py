"""An accelerator without hardware: tensors on `torch.device("sim")` hold true numbers and obey CUDA's rules.

torch lets a backend be written in Python (PrivateUse1). A tensor of this one is an ordinary torch tensor whose memory
is that of a CPU tensor: dispatcher, autograd, torch.func, views and the refusal of `.numpy()` are torch's own. One
fallback serves every operator. It looks at the arguments through CPU tensors over the same memory, refuses what CUDA
would refuse, runs the CPU's kernel, and hands the results out on the device:

    install()            the device; a process keeps it, so that tests of it need a process of their own
    listening(root)      counts kernels, copies and waits of the host inside, each with the line that asked for it
    rounding(seed)       inside, the device is another machine: last bits differ, eigenvectors have other signs

It does not see what is asynchronous, the memory and speed of a device, how its solvers converge, or a fork after CUDA
has begun. `copy.deepcopy` of its tensors crashes, and forward over reverse derivatives do not work.
"""

import collections
import ctypes
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.utils.backend_registration as registration
from torch import Tensor

NAME = "sim"
HOST, DEVICE = 1, 12  # DLDeviceType of DLPack: kDLCPU, and kDLExtDev, which torch reads as PrivateUse1
LOCK = threading.RLock()  # the device has a thread of its own for backward passes


def available() -> bool:
    """Whether this torch lets a backend be written in Python."""
    return hasattr(registration, "_setup_privateuseone_for_python_backend")


def install() -> torch.device:
    """The device."""
    if not _LIBRARIES:
        registration._setup_privateuseone_for_python_backend(NAME)
        _LIBRARIES.extend([torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")])
        _LIBRARIES[0].fallback(_run, "PrivateUse1")
        _LIBRARIES[1].impl("_copy_from", _copy, "PrivateUse1")
        for name in STANDS_IN:
            _LIBRARIES[1].impl(name, partial(_run, getattr(torch.ops.aten, name).default), "PrivateUse1")
    return torch.device(NAME, 0)


_LIBRARIES: list[torch.library.Library] = []
_address = ctypes.pythonapi.PyCapsule_GetPointer
_address.restype, _address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _seen_from(side: int, t: Tensor) -> Tensor:
    """The tensor on the other side, over the same memory, which it keeps alive."""
    capsule = torch._C._to_dlpack(t)
    ctypes.c_int32.from_address(_address(capsule, b"dltensor") + 8).value = side  # a DLTensor is: data, device, …
    return torch._C._from_dlpack(capsule)


def _on_device(t: Tensor) -> bool:
    return t.device.type == NAME


# ---- What is counted


Places = collections.Counter[tuple[str, str]]  # (line, what)


@dataclass
class Traffic:
    """Kernels, copies and waits, by the innermost line below `root` that was at work."""

    root: str
    kernels: Places = field(default_factory=collections.Counter)
    waits: Places = field(default_factory=collections.Counter)  # the host needs a result before it goes on
    uploads: Places = field(default_factory=collections.Counter)
    varying: Places = field(default_factory=collections.Counter)  # not the same bits at every run on a real device
    bytes_up: int = 0
    bytes_down: int = 0

    def line(self) -> str:
        """Where the program is."""
        frame = sys._getframe(1)
        while frame := frame.f_back:
            name = frame.f_code.co_filename
            if name.startswith(self.root) and name != __file__ and "site-packages" not in name:
                return f"{os.path.relpath(name, self.root)}:{frame.f_lineno}"
        return "a backward pass"


@dataclass
class _Now:
    """What the device does besides computing."""

    traffic: Traffic | None = None
    rounding: int | None = None


_now = _Now()


@contextmanager
def listening(root: str | Path = os.sep) -> Iterator[Traffic]:
    """Count what happens inside."""
    before, _now.traffic = _now.traffic, Traffic(str(root))
    try:
        yield _now.traffic
    finally:
        _now.traffic = before


@contextmanager
def rounding(seed: int = 0) -> Iterator[None]:
    """Round unlike the CPU inside: the same way for the same bits."""
    before, _now.rounding = _now.rounding, 2 * seed + 0x9E3779B97F4A7C1
    try:
        yield
    finally:
        _now.rounding = before


def _count(known: "_Operator", tensors: list["_Argument"], drawn_freely: bool, accumulates: bool) -> None:
    with LOCK:
        traffic = _now.traffic
        at = traffic.line()
        traffic.kernels[at, known.name] += 1
        if known.waits:
            traffic.waits[at, known.name] += 1
            if known.name == "_local_scalar_dense":
                traffic.bytes_down += tensors[0].tensor.element_size()
        for argument in tensors:
            if not _on_device(argument.tensor):
                traffic.uploads[at, "index" if argument.index else "number"] += 1
                traffic.bytes_up += argument.tensor.nbytes
        if drawn_freely:
            traffic.varying[at, f"{known.name}: drawn by the device's own generator"] += 1
        if accumulates:
            traffic.varying[at, f"{known.name}: sums in any order"] += 1


# ---- What CUDA refuses


@dataclass(frozen=True)
class _Argument:
    """A tensor among the arguments of an operator."""

    tensor: Tensor
    written: bool
    index: bool


def _torchs_own_table() -> tuple[set[str], set[str]]:
    """Of native_functions.yaml: operators that check devices in their kernels, and those without a CUDA kernel."""
    kernels_check: set[str] = set()
    no_kernel: set[str] = set()
    found = importlib.util.find_spec("torchgen")
    if found is None or not found.submodule_search_locations:
        return kernels_check, no_kernel
    path = Path(found.submodule_search_locations[0], "packaged/ATen/native/native_functions.yaml")
    blocks = re.split(r"^- func: ", path.read_text(), flags=re.MULTILINE)[1:]
    entries = {block.partition("(")[0]: block for block in blocks}
    for name, block in entries.items():
        delegate = re.search(r"structured_delegate: (\S+)", block)
        text = block + (entries.get(delegate[1], "") if delegate else "")
        served = {
            key.strip()
            for keys in re.findall(r"^    ([A-Za-z0-9, ]+): \S", text, flags=re.MULTILINE)
            for key in keys.split(",")
        }
        if "device_check: NoCheck" in text:
            kernels_check.add(name)
        if "CPU" in served and not any(key == "CUDA" or key.startswith("Composite") for key in served):
            no_kernel.add(name)
    return kernels_check, no_kernel


KERNELS_CHECK, NO_KERNEL = _torchs_own_table()


def _operators(*names: str) -> re.Pattern[str]:
    """Matches operators of those names, their overloads and their forms in place."""
    return re.compile(rf"({'|'.join(names)})_?(\.|$)")


TAKES_INDICES = _operators("_?(unsafe_)?index", "_?(unsafe_)?index_put", "_index_put_impl")
PRODUCTS = _operators("addmm", "mm", "bmm", "baddbmm", "addmv", "mv", "dot", "vdot", "addbmm", "addr")


def _refuse(known: "_Operator", tensors: list[_Argument], call: "_Call") -> None:
    """Raise where CUDA would."""
    if known.name in NO_KERNEL:
        raise NotImplementedError(f"{known.name} has no CUDA kernel")
    if call.generator is not None and call.generator.device.type != NAME and call.on_device:
        raise RuntimeError(f"expected a generator of {NAME}, found one of {call.generator.device.type}")
    first = tensors[0].tensor if tensors else None
    for argument in tensors:
        t = argument.tensor
        index_of_device = argument.index and TAKES_INDICES.match(known.name) and _on_device(first)
        number = t.dim() == 0 and not argument.written and known.kernel_checks
        if not (_on_device(t) or index_of_device or number):
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{NAME}:0 and {t.device}! ({known.name}, an argument of shape {tuple(t.shape)})"
            )
    if PRODUCTS.match(known.name) and not (first.is_floating_point() or first.is_complex()):
        raise RuntimeError(f'"{known.name}_cuda" not implemented for {first.dtype}')
    if call.driver not in (None, "gels"):
        raise RuntimeError("linalg.lstsq on CUDA has no driver but gels")


# ---- Another machine's last bits

SAME_EVERYWHERE = _operators(  # copies, comparisons, and what is correctly rounded element by element
    *("add", "sub", "rsub", "mul", "div", "neg", "abs", "sqrt", "square", "reciprocal", "sign", "sgn", "fmod"),
    *("clamp", "clamp_min", "clamp_max", "min", "max", "minimum", "maximum", "amin", "amax", "relu", "threshold"),
    *("eq", "ne", "lt", "le", "gt", "ge", r"logical_\w+", r"bitwise_\w+", r"is\w+", "floor", "ceil", "round", "trunc"),
    *("where", "fill", "zero", "copy", "_copy_from", "clone", "cat", "stack", "gather", "index", "index_select"),
    *("index_fill", "index_copy", "index_put", "_index_put_impl", "scatter", "sort", "argsort", "argmax", "argmin"),
    *("topk", "eye", "arange", "full", "ones", "zeros", r"empty\w*", r"new_\w+", "masked_fill", "masked_select"),
    *("tril", "triu", "tril_indices", "triu_indices", "flip", "roll", "repeat", "unfold", "diag", r"diagonal\w*"),
    *("remainder", "heaviside", "constant_pad_nd", "searchsorted", "bucketize", "kthvalue", "median", "nonzero"),
    *("_unique2", "normal", "uniform", "randperm", "combinations", "_local_scalar_dense", "set", "resize"),
)


def _round(known: "_Operator", results: tuple[object, ...], seed: int) -> None:
    """Move last bits by at most one, and turn eigen- and singular vectors around, by a hash of the bits."""
    for r in results:
        if isinstance(r, Tensor) and r.dtype == torch.float64 and r.numel() and min(r.stride(), default=1) > 0:
            bits = r.view(torch.int64)
            bits.add_(torch.where((r != 0) & torch.isfinite(r), ((bits * seed) >> 33) % 3 - 1, 0))
    if known.name.startswith(("_linalg_eigh", "_linalg_svd")):
        left = results[1 if "eigh" in known.name else 0]
        if left.numel():
            bits = left[..., :1, :].clone().abs().view(torch.int64)
            signs = 1.0 - 2.0 * (((bits * seed) >> 35) & 1)
            left.mul_(signs)
            if left is results[0] and results[2].numel():
                k = min(signs.shape[-1], results[2].shape[-2])
                results[2][..., :k, :].mul_(signs[..., 0, :k, None])


# ---- The one kernel

WAITS = _operators(  # their result has a shape, or a fault, that the host must know
    *("nonzero", "masked_select", "_unique2?", "unique_dim", "unique_consecutive", "equal", "_local_scalar_dense"),
    *("_linalg_eigh", "_linalg_svd", "linalg_eig", "_linalg_eigvals", "linalg_lstsq", "repeat_interleave", "bincount"),
)
ATOMIC = _operators("index_add", "scatter_add", "scatter_reduce", "bincount", "histc", "put")
TAKES_NUMBERS = _operators("add", "sub", "subtract", "rsub", "mul", "multiply", "div", "divide", "true_divide",
                           "floor_divide")  # fmt: skip
LAUNCHES_NOTHING = ("empty", "resize_", "set_", "lift", "detach")


class _Operator:
    """What is known of an operator."""

    def __init__(self, op: Any) -> None:
        schema = op._schema
        self.name = schema.name.removeprefix("aten::") + (f".{schema.overload_name}" if schema.overload_name else "")
        self.place = {a.name: i for i, a in enumerate(schema.arguments)}
        self.written = [bool(a.alias_info and a.alias_info.is_write) for a in schema.arguments]
        self.out = [a.is_out for a in schema.arguments]
        self.index = [a.name in ("indices", "index") for a in schema.arguments]
        self.tensor = [str(a.type) in ("Tensor", "Optional[Tensor]") for a in schema.arguments]
        view = any(r.alias_info and not r.alias_info.is_write for r in schema.returns)
        self.launches = not (view or self.name.startswith(LAUNCHES_NOTHING))
        self.resizes = self.name == "resize_"
        self.same_everywhere = view or bool(SAME_EVERYWHERE.match(self.name))
        self.waits = bool(WAITS.match(self.name))
        self.draws = torch.Tag.nondeterministic_seeded in op.tags
        self.atomic = bool(ATOMIC.match(self.name))
        self.takes_numbers = bool(TAKES_NUMBERS.match(self.name))
        self.kernel_checks = not {self.name, schema.name.removeprefix("aten::")}.isdisjoint(KERNELS_CHECK)


_known: dict[object, _Operator] = {}


@dataclass
class _Call:
    """The arguments of a call as the CPU's kernel takes them, and what was met on the way there."""

    known: _Operator
    tensors: list[_Argument] = field(default_factory=list)
    lowered: list[tuple[Tensor, Tensor, bool]] = field(default_factory=list)  # there, here, written
    generator: torch.Generator | None = None
    driver: str | None = None
    on_device: bool = False

    def lower(self, value: Any, place: int) -> Any:
        """One argument."""
        if isinstance(value, Tensor):
            return self._tensor(value, place)
        if isinstance(value, list | tuple):
            return type(value)(self.lower(v, place) for v in value)
        if isinstance(value, bool | int | float) and self.known.tensor[place] and not self.known.takes_numbers:
            return torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else None)
        if isinstance(value, torch.device) and value.type == NAME:
            self.on_device = True
            return torch.device("cpu")
        if isinstance(value, torch.Generator):
            self.generator = value
        return value

    def _tensor(self, t: Tensor, place: int) -> Tensor:
        self.tensors.append(_Argument(t, self.known.written[place], self.known.index[place]))
        if not _on_device(t):
            return t
        self.on_device = True
        if self.known.out[place] and t.numel() == 0:  # grown by the kernel
            here = torch.empty(0, dtype=t.dtype)
        else:
            here = _seen_from(HOST, t)
            here = here.clone() if self.known.resizes else here  # the memory of another tensor cannot grow
        self.lowered.append((t, here, self.known.written[place]))
        return here

    def lift(self, value: Any) -> Any:
        """A result on the device; an argument that was written is itself."""
        if isinstance(value, Tensor):
            own = next((there for there, here, _ in self.lowered if here is value), None)
            return _seen_from(DEVICE, value) if own is None else own
        if isinstance(value, list | tuple):
            return type(value)(self.lift(v) for v in value)
        return value


def _convolved_back(*args: Any) -> Any:
    """The derivatives of a convolution, as torch asks a foreign backend for them."""
    (given, x, weight), mask = args[:3], args[-1]
    sizes = [given.shape[1]] if mask[2] else None
    return torch.ops.aten.convolution_backward.default(given, x, weight, sizes, *args[3:])


STANDS_IN = {  # where torch asks a backend for a kernel of its own
    "convolution_overrideable": torch.ops.aten.convolution.default,
    "convolution_backward_overrideable": _convolved_back,
}


def _run(op: Any, *args: Any, **named: Any) -> Any:
    """Every operator: checked, counted, computed by the CPU's kernel on the same memory."""
    known = _known.get(op) or _known.setdefault(op, _Operator(op))
    call = _Call(known)
    here = [call.lower(value, place) for place, value in enumerate(args)]
    here_named = {name: call.lower(value, known.place[name]) for name, value in named.items()}
    if "pin_memory" in here_named:
        here_named["pin_memory"] = None
    if known.name.startswith("linalg_lstsq"):
        call.driver, here_named["driver"] = here_named.get("driver"), "gels"  # CUDA's only one, for full rank alone
    _refuse(known, call.tensors, call)
    if _now.traffic is not None and known.launches:
        accumulates = known.atomic or (
            "accumulate" in known.place and (any(a is True for a in args) or named.get("accumulate"))
        )
        _count(known, call.tensors, known.draws and call.generator is None, bool(accumulates))
    results = STANDS_IN.get(known.name, op)(*here, **here_named)
    several = results if isinstance(results, list | tuple) else (results,)
    if _now.rounding is not None and not known.same_everywhere:
        _round(known, tuple(several), _now.rounding)
    for there, mine, written in call.lowered:  # a kernel may change shapes: resize_, t_, an `out` that grew
        moved = mine.numel() > 0 and mine.data_ptr() != (there.data_ptr() if there.numel() else 0)
        if written and (mine.shape != there.shape or mine.stride() != there.stride() or moved):
            there.data = _seen_from(DEVICE, mine)
    return call.lift(results)


def _copy(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    """`copy_`, `.to` and `.cpu`, in every direction."""
    if _now.traffic is not None:
        with LOCK:
            traffic = _now.traffic
            at = traffic.line()
            if not _on_device(target):
                traffic.waits[at, "copy"] += 1
                traffic.bytes_down += source.nbytes
            elif not _on_device(source):
                traffic.uploads[at, "copy"] += 1
                traffic.bytes_up += source.nbytes
            else:
                traffic.kernels[at, "copy_"] += 1
    here, there = (_seen_from(HOST, t.resolve_conj().detach()) if _on_device(t) else t for t in (source, target))
    there.detach().copy_(here)
    return target
