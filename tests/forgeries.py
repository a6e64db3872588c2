"""Bundles that somebody forged, made from an honest one: each by one change, and what is said of it."""

import io
import json
import stat
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from paramid.records.publications.bundles import pack
from paramid.records.publications.lines import canonical, digest
from paramid.records.record import Record
from paramid.running.cell import plan_cell
from paramid.words.status import Status
from tests.records import made

TASKS = ("shallow:D=5,m=2", "shallow:D=6,m=3")
METHOD = "spm"
Plain = dict[str, Any]


def real(task: str, seed: int, method: str = METHOD, **told: Any) -> Record:
    """A record with the key that its cell has here."""
    limit = told.pop("limit", 30.0)
    device = told.get("device", "cpu")
    cell = plan_cell(method, task, seed=seed, time_limit=limit, device=device)
    return made(method, task, seed, told.pop("error", 1e-5), key=cell.key(), budget=cell.budget, **told)


def honest(**told: Any) -> list[Record]:
    """Eight records."""
    return [real(task, seed, **told) for task in TASKS for seed in range(4)]


def perfect(record: Record, **told: Any) -> Record:
    """The same with an error at rounding, in every claim."""
    better = {"error": 1e-16, "identified": 1.0}
    claims = tuple(replace(stage, metrics=better) for stage in record.claims)
    return replace(record, metrics={**record.metrics, **better}, claims=claims, **told)


def parts(records: list[Record]) -> dict[str, bytes]:
    """The files of an honest bundle."""
    with zipfile.ZipFile(io.BytesIO(pack(records, {"cpu": "x"}))) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return buffer.getvalue()


def relined(change: Callable[[Plain], object], *, sealed: bool = True) -> bytes:
    """The honest bundle, its first record changed, and its hash with it."""
    files = parts(honest())
    first, *rest = files["records.jsonl"].decode().splitlines(keepends=True)
    told = json.loads(first)
    change(told["record"])
    text = json.dumps(told["record"], sort_keys=True, separators=(",", ":"))
    if sealed:
        told["sha256"] = digest(json.loads(text)) if "Infinity" not in text and "NaN" not in text else "0" * 64
    line = f'{{"record":{text},"schema":1,"sha256":"{told["sha256"]}"}}\n'
    return zipped({**files, "records.jsonl": "".join([line, *rest]).encode()})


def lined(*lines: str) -> bytes:
    """The honest bundle with further lines."""
    files = parts(honest())
    return zipped({**files, "records.jsonl": files["records.jsonl"] + "".join(lines).encode()})


def manifested(change: Callable[[Plain], object], records: list[Record] | None = None) -> bytes:
    """The honest bundle with another manifest."""
    files = parts(records or honest())
    told = json.loads(files["manifest.json"])
    change(told)
    return zipped({**files, "manifest.json": json.dumps(told).encode()})


def put(**values: Any) -> Callable[[Plain], object]:
    """A change of some fields."""
    return lambda told: told.update(values)


def of_metrics(**values: Any) -> Callable[[Plain], object]:
    """A change of some metrics."""
    return lambda told: told["metrics"].update(values)


def entry(name: str, content: bytes = b"", mode: int = 0) -> bytes:
    """The honest bundle with one more file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as opened:
        for known, text in parts(honest()).items():
            opened.writestr(known, text)
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, mode << 16
        opened.writestr(info, content)
    return buffer.getvalue()


def corrupt(method: int) -> bytes:
    """A compressed stream with some of its bytes turned over."""
    content = bytearray(zipped({n: c * 50 for n, c in parts(honest()).items()}, method))
    for place in range(60, 400, 7):
        content[place] ^= 0xFF
    return bytes(content)


def lying_sizes() -> bytes:
    """A file whose head says less than it holds."""
    content = zipped({"manifest.json": b" " * 2**22, "records.jsonl": b""})
    return content.replace((2**22).to_bytes(4, "little"), (100).to_bytes(4, "little"))


def encrypted() -> bytes:
    """A file that says it is encrypted."""
    content = bytearray(zipped(parts(honest())))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(mark)
        while at >= 0:
            content[at + place] |= 1
            at = content.find(mark, at + 4)
    return bytes(content)


def resealed(record: Plain, kind: str = "record") -> str:
    """A line of some kind."""
    return canonical({"schema": 1, "sha256": digest(record), kind: record}) + "\n"


def of_a_secret() -> bytes:
    """Records as if an epoch had given them, with the keys that such cells have."""
    told = "1" * 64
    cell = plan_cell(METHOD, TASKS[0], seed=99, time_limit=30.0, secret=told)
    return pack([replace(real(TASKS[0], 99), key=cell.key(), secret=told)], {"cpu": "x"})


DEEP = "[" * 100_000
LINE = parts(honest())["records.jsonl"].decode().splitlines(keepends=True)[0]

# What is refused, and by which words
REFUSED: dict[str, Callable[[], bytes]] = {
    "spectral-norm: it has records, and is not in manifest.json": lambda: manifested(
        lambda m: m.update(methods={k: v for k, v in m["methods"].items() if k == METHOD}),
        [*honest(), perfect(real(TASKS[0], 0, "spectral-norm"))],
    ),
    "no-such-method": lambda: manifested(put(methods={"no-such-method": {"version": 1, "source": "0" * 64}})),
    "the bundle holds no method": lambda: zipped(
        {"manifest.json": json.dumps({"schema": 1, "methods": {}, "tasks": {}, "environment": {}}).encode(),
         "records.jsonl": b""}),
    "threads is '<img onerror=": lambda: relined(put(threads="<img onerror=alert(1)>")),
    "queries is 1000": lambda: relined(put(queries=10**400)),
    "damaged: Exceeds the limit": lambda: lined(LINE.replace('"queries":1000', '"queries":1' + "0" * 5000)),
    "peak_mb is 'much'": lambda: relined(put(peak_mb="much")),
    "no record: no budget": lambda: relined(lambda r: r.pop("budget")),
    "budget is '30'; an object": lambda: relined(put(budget="30")),
    "budget is [30]": lambda: relined(put(budget=[30])),
    "provenance is []": lambda: relined(put(provenance=[])),
    "provenance.cpu is '\\x1b[31mred'": lambda: relined(put(provenance={"cpu": "\x1b[31mred"})),
    "metrics.error is 1000": lambda: relined(of_metrics(error=10**400)),
    "a name in metrics is '<b>x</b>'": lambda: relined(of_metrics(**{"<b>x</b>": 1.0})),
    "metrics.error is [0]": lambda: relined(of_metrics(error=[0])),
    "stats.b is {'c': 1}": lambda: relined(put(stats={"a": 1, "b": {"c": 1}})),
    "method is \"=cmd|": lambda: relined(put(method="=cmd|' /C calc'!A0")),
    "method is 'spm|x'": lambda: relined(put(method="spm|x")),
    "task is 'shallow:D=5,m=2\\n": lambda: relined(put(task="shallow:D=5,m=2\n# x")),
    "reason is '\\x1b]0;": lambda: relined(put(reason="\x1b]0;owned\x07")),
    "reason is 'abc\\u202e": lambda: relined(put(reason="abc\u202etxt.exe")),
    "reason is 'abc\\u061c": lambda: relined(put(reason="abc\u061ctxt.exe")),
    "printed is '\\x9b": lambda: relined(put(printed="\x9b31m")),
    "seed is -1": lambda: relined(put(seed=-1)),
    "seed is 0.0": lambda: relined(put(seed=0.0)),
    "seed is True": lambda: relined(put(seed=True)),
    "seconds is -1": lambda: relined(put(seconds=-1)),
    "seconds is 1e+30": lambda: relined(put(seconds=1e30)),
    "device is 'tpu'": lambda: relined(put(device="tpu")),
    "status is 'perhaps'": lambda: relined(put(status="perhaps")),
    "claims is {}": lambda: relined(put(claims={})),
    "no derivatives": lambda: relined(put(claims=[{"kind": "Network"}])),
    "claims are not in the order of their seconds": lambda: relined(lambda r: r["claims"].reverse()),
    "its last claim had cost": lambda: relined(put(seconds=1e-3)),
    "error of its last claim is": lambda: relined(of_metrics(error=1e-16)),
    "identified without a claim": lambda: relined(put(claims=[])),
    "declined, and claims": lambda: relined(put(status="declined")),
    "spm: it has records of a secret's teachers": of_a_secret,
    "secret is 'abc'": lambda: relined(put(secret="abc")),
    "obstacles is 'none'": lambda: relined(put(obstacles="none")),
    "a field of the record is 'rank'": lambda: relined(put(rank=1)),
    "no method": lambda: relined(lambda r: r.pop("method")),
    "judge_inputs is 0": lambda: relined(put(judge_inputs=0)),
    "its key is not that of its cell": lambda: relined(put(key="0" * 24)),
    "seed 0: its key is not": lambda: relined(put(judge_inputs=1)),
    "seed 99: its key is not": lambda: relined(put(seed=99)),
    "tampered": lambda: relined(put(seconds=1e-3), sealed=False),
    "damaged: NaN is no JSON number": lambda: lined(LINE.replace('"seconds":2.0', '"seconds":NaN')),
    "damaged: Out of range": lambda: lined(LINE.replace('"seconds":2.0', '"seconds":1e999')),
    "an object gives a name twice": lambda: lined(LINE.replace('"seed":0', '"seed":0,"seed":1')),
    "a duplicate of an earlier line": lambda: lined(LINE),
    "a verdict; record was wanted": lambda: lined(
        resealed({"record": "0" * 64, "verdict": "verified", "reason": "", "provenance": {}}, "verdict")),
    "a self-reported; record was wanted": lambda: lined(resealed(json.loads(LINE)["record"], "self-reported")),
    "no entry: no commitment": lambda: lined(resealed({}, "entry")),
    "damaged": lambda: lined(DEEP),
    "100 lines were refused; the rest was not read": lambda: lined("x\n" * 2**20),
    "records.jsonl:9: damaged: Expecting value": lambda: lined("\n" * 2**20),
    "characters; at most 4,194,304": lambda: lined('"' + "x" * 2**22 + '"\n'),
    "manifest.json has schema 2": lambda: manifested(put(schema=2)),
    "methods is []": lambda: manifested(put(methods=[])),
    "version is True": lambda: manifested(lambda m: m["methods"][METHOD].update(version=True)),
    "the code here is not the code that made its records": lambda: manifested(
        lambda m: m["methods"][METHOD].update(source="0" * 64)),
    "shallow:D=5,m=2: it has records, and is not in": lambda: manifested(lambda m: m["tasks"].pop(TASKS[0])),
    "environment.cpu is '\\x1b": lambda: manifested(put(environment={"cpu": "\x1b[2J"})),
    "a field of the manifest is 'rank'": lambda: manifested(put(rank=1)),
    "climbs out of the bundle": lambda: entry("../records.jsonl"),
    "is an absolute path": lambda: entry("/etc/passwd"),
    "is a link": lambda: entry("more.jsonl", b"/etc/passwd", stat.S_IFLNK | 0o777),
    "manifest.json and records.jsonl were wanted": lambda: entry("more.jsonl"),
    "records.jsonl, \ufffd[2J; ": lambda: entry("\x1b[2J"),
    "is no bundle: Error -3": lambda: corrupt(zipfile.ZIP_DEFLATED),
    "is no bundle: ": lambda: corrupt(zipfile.ZIP_LZMA),
    "is no bundle: Bad CRC": lambda: zipped(parts(honest()), zipfile.ZIP_STORED).replace(b'"cpu"', b'"CPU"', 1),
    "is encrypted": encrypted,
    "b.zip has 16,777,217 bytes; at most 16,777,216 were wanted": lambda: bytes(2**24 + 1),
    "is no bundle: File is not a zip file": lambda: b"no zip at all",
    "is no bundle": lying_sizes,
    "at most 1,048,576 were wanted": lambda: zipped({"manifest.json": b" " * (2**20 + 1), "records.jsonl": b""}),
}  # fmt: skip

# What reads as an honest bundle would: it is never ranked, and a forged error shows where the maintainers ran it
BELIEVED: dict[str, list[Record]] = {
    "seven of eight errors, ground through a free field": [
        perfect(r, provenance={**r.provenance, "run": "x7"}) if i else r for i, r in enumerate(honest())
    ],
    "seconds over a thousand": [
        replace(r, seconds=2e-3, claims=tuple(replace(c, seconds=c.seconds / 1000) for c in r.claims)) for r in honest()
    ],
    "stages that were better than they were": [
        replace(r, claims=(perfect(r).claims[0], *r.claims[1:])) for r in honest()
    ],
    "timed out, and perfect": [perfect(r, status=Status.TIMED_OUT) for r in honest()],
    "on a GPU": [perfect(r) for r in honest(device="cuda")],
    "a rival's records, timed out later": [
        *honest(),
        *honest(
            method="sphere-lm",
            status=Status.TIMED_OUT,
            metrics={},
            claims=(),
            provenance={"finished": "2999-01-01T00:00:00+00:00"},
        ),
    ],
    "another machine and commit": honest(provenance={"cpu": "a better one", "commit": "f" * 40, "paramid": "9"}),
    "seeds that nobody else ran": [perfect(real(TASKS[0], seed)) for seed in range(4, 12)],
    "no time limit": [perfect(r) for r in honest(limit=None)],
    "a time limit of eleven days": [perfect(r) for r in honest(limit=1e6)],
}
