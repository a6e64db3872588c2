"""Published lines: JSON, each with the hash of what it says, so that a line that was edited is known.

    {"schema": 1, "sha256": "…", "record": {…}}           a record
    {"schema": 1, "sha256": "…", "self-reported": {…}}    a record that a submitter made; nobody ranks it
    {"schema": 1, "sha256": "…", "entry": {…}}            which records an epoch gave some methods (see `epochs`)
    {"schema": 1, "sha256": "…", "verdict": {…}}          what became of a record, named by its hash, when it ran again

The hash is that of the canonical JSON, ASCII with sorted keys and no spaces. What a line says comes in by `door`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import IO, Any, NoReturn

from paramid.records.publications import door
from paramid.records.publications.door import Untrusted, text
from paramid.records.record import Record, dump

SCHEMA = 1
VERIFIED, DISPUTED, UNVERIFIED = "verified", "disputed", "unverified"  # the last: nobody ran it again, or could
LONGEST = 2**22  # characters of a line
PATIENCE = 100  # lines that are refused before nothing more is read


@dataclass(frozen=True)
class Verdict:
    """What became of a record, named by its hash, when it was run again."""

    record: str
    verdict: str
    reason: str = ""
    provenance: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What an epoch gave some methods: which teachers, which records, made where. `epochs` says when it holds."""

    epoch: str
    commitment: str  # the hash of the epoch's secret
    suite: str
    version: int
    methods: Mapping[str, Mapping[str, object]]  # names, and the version and source that were frozen
    frozen: str  # the hash of `methods`
    secret: str  # the hash of the secret that the epoch's and `frozen` gave: what the records hold
    count: int
    records: str  # the hash of the records' hashes in order
    machine: str
    made: str


@dataclass(frozen=True)
class Line:
    """A line that can be read."""

    kind: str
    digest: str
    said: Record | Verdict | Entry


VERDICT = door.shaped(
    {
        "record": door.HASH,
        "verdict": door.either(VERIFIED, DISPUTED),
        "reason": text(2000),
        "provenance": door.mapping(door.WORD, door.fact, 60),
    },
    frozenset({"record", "verdict"}),
)
IDENTITY = door.shaped({"version": door.number(whole=True), "source": door.HASH}, frozenset({"version", "source"}))
EPOCH = text(60, r"[a-z0-9][a-z0-9.-]*")
DAY = text(40, r"\d{4}-\d\d-\d\d[0-9T:.+Z-]*")
ENTRY: dict[str, door.Check] = {
    **dict.fromkeys(("commitment", "frozen", "secret", "records"), door.HASH),
    "epoch": EPOCH,
    "suite": door.WORD,
    "version": door.number(1, 1e6, whole=True),
    "methods": door.mapping(door.NAME, IDENTITY, 1000),
    "count": door.number(whole=True, most=1e7),
    "machine": text(300),
    "made": DAY,
}


def canonical(plain: object) -> str:
    """The one text of a plain value."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(plain: object) -> str:
    """The hash of a plain value's canonical JSON."""
    return hashlib.sha256(canonical(plain).encode()).hexdigest()


def of_records(digests: Iterable[str]) -> str:
    """The hash of some records' hashes."""
    return digest(sorted(digests))


def fingerprint(record: Record) -> str:
    """The hash of a record."""
    return digest(json.loads(dump(plain(record).to_json())))


def plain(record: Record) -> Record:
    """The record with words that any page and terminal may show."""
    reason, trace, printed = (door.shown(getattr(record, name), most) for name, most in door.WORDS.items())
    if (reason, trace, printed) == (record.reason, record.traceback, record.printed):
        return record
    return replace(record, reason=reason, traceback=trace, printed=printed)


def line(kind: str, said: Record | Verdict | Entry) -> str:
    """One line of a publication."""
    told = plain(said).to_json() if isinstance(said, Record) else asdict(said)
    told = json.loads(dump(told))
    return canonical({"schema": SCHEMA, "sha256": digest(told), kind: told}) + "\n"


def parse(words: str) -> Line:
    """What a line says; an Untrusted says what is wrong with any other."""
    if len(words) > LONGEST:
        raise Untrusted(f"{len(words):,} characters; at most {LONGEST:,} were wanted")
    try:
        told = json.loads(words, parse_constant=_not_finite, object_pairs_hook=_once)
    except Untrusted:
        raise
    except (ValueError, RecursionError) as error:
        raise Untrusted(f"damaged: {str(error).splitlines()[0]}") from error
    if not isinstance(told, dict) or type(told.get("schema")) is not int:
        raise Untrusted("no published line: an object with a schema was wanted")
    if told["schema"] != SCHEMA:
        raise door.wrong(told["schema"], "schema", f"{SCHEMA}, which this version reads,")
    kinds = [kind for kind in READERS if kind in told]
    if len(kinds) != 1 or set(told) != {"schema", "sha256", *kinds}:
        raise Untrusted(f"no published line: schema, sha256 and one of {', '.join(READERS)} were wanted")
    door.HASH(told["sha256"], "sha256")
    try:
        found = digest(told[kinds[0]])
    except (ValueError, RecursionError) as error:  # 1e999
        raise Untrusted(f"damaged: {error}") from error
    if found != told["sha256"]:
        raise Untrusted(f"tampered: the hash of its {kinds[0]} is {found[:12]}…, not {told['sha256'][:12]}…")
    try:
        return Line(kinds[0], found, READERS[kinds[0]](told[kinds[0]]))
    except Untrusted as error:
        raise Untrusted(f"no {kinds[0]}: {error}") from error


def numbered(file: IO[str], name: str) -> Iterator[tuple[str, str]]:
    """The lines of a file with their places; behind one that is too long nothing is read."""
    for number, words in enumerate(iter(partial(file.readline, LONGEST + 1), ""), 1):
        yield f"{name}:{number}", words
        if len(words) > LONGEST:
            return


def lines(numbered: Iterable[tuple[str, str]], file: str, kinds: Iterable[str], seen: set[str]) -> Iterator[Line | str]:
    """What lines say, and of those that cannot be trusted where they stand and why; after a hundred the door closes."""
    refused, wanted = 0, tuple(kinds)
    for place, words in numbered:
        try:
            found = parse(words)
            if found.kind not in wanted:
                raise Untrusted(f"a {found.kind}; {' or '.join(wanted)} was wanted")
            if (mark := f"{found.kind} {found.digest}") in seen and found.kind in ("record", "entry"):
                raise Untrusted("a duplicate of an earlier line")
            seen.add(mark)
            yield found
        except Untrusted as error:
            yield f"{place}: {error}"
            refused += 1
        if refused == PATIENCE:
            yield f"{file}: {PATIENCE} lines were refused; the rest was not read"
            return


def _verdict(told: Any) -> Verdict:
    VERDICT(told, "the verdict")
    return Verdict(**told)


def _entry(told: Any) -> Entry:
    door.shaped(ENTRY, frozenset(ENTRY))(told, "the entry")
    return Entry(**told)


READERS: Mapping[str, Callable[[Any], Record | Verdict | Entry]] = {
    "record": door.record,
    "self-reported": door.record,
    "entry": _entry,
    "verdict": _verdict,
}


def _not_finite(name: str) -> NoReturn:
    raise Untrusted(f"damaged: {name} is no JSON number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(told := dict(pairs)) < len(pairs):
        raise Untrusted("damaged: an object gives a name twice")
    return told
