"""The door for what others wrote, fed with lines and zip files that nobody meant: seconds a megabyte, memory.

python benchmarks/side_by_side/hostile_lines.py [--minutes 5]     a traceback is what must not come

What comes through is shown: a table and a board are made of it, outside the seconds.
"""

import argparse
import gc
import io
import random
import resource
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from paramid.board import site
from paramid.board.summary import Summary
from paramid.records import text_tables
from paramid.records.publications import bundles, lines, published
from paramid.words.naming import UsageError

WORDS = (
    *(
        '"',
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "1e999",
        "-0",
        "1e300",
        "NaN",
        "Infinity",
        "null",
        "true",
        '"\\ud800"',
        "\x00",
    ),
    *("\u2028", '"schema":1', '"record":', '"entry":', f'"sha256":"{"0" * 64}"', "9" * 5000, "\\", "\n", " ", "é"),
)


def honest() -> list[str]:
    """Lines that were published."""
    texts = (path.read_text().splitlines() for path in published.files(published.whereabouts(published.OWN)))
    return [line for text in texts for line in text[:50]]


def hostile(known: list[str], chance: random.Random) -> bytes:
    """A file of lines: honest ones with pieces changed, doubled, cut or sealed anew, and nonsense."""
    made = []
    for _ in range(chance.randrange(1, 60)):
        line = (
            list(chance.choice(known))
            if known and chance.random() < 0.6
            else list("".join(chance.choices(WORDS, k=20)))
        )
        for _ in range(chance.randrange(8)):
            place = chance.randrange(len(line) + 1)
            line[place : place + chance.randrange(20)] = chance.choice(WORDS)
        made.append(resealed("".join(line)) if chance.random() < 0.5 else "".join(line))
    if chance.random() < 0.02:
        made.append(chance.choice(("[", '{"a":', '"x', "9")) * chance.randrange(1, 2**20))
    return "\n".join(made).encode("utf-8", "surrogatepass")


def resealed(line: str) -> str:
    """The same with its own hash, where it is JSON: what a forger would do."""
    import json

    try:
        told = json.loads(line)
        kind = next(k for k in lines.READERS if k in told)
        return lines.canonical({**told, "sha256": lines.digest(told[kind])})
    except (ValueError, StopIteration, TypeError, RecursionError):
        return line


def zipped(content: bytes, chance: random.Random) -> bytes:
    """A bundle of these lines, some of its bytes turned over."""
    buffer = io.BytesIO()
    method = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(buffer, "w", method) as opened:
        opened.writestr("manifest.json", '{"schema":1,"methods":{},"tasks":{},"environment":{}}')
        opened.writestr("records.jsonl", content)
    made = bytearray(buffer.getvalue())
    for _ in range(chance.choice((0, 0, 1, 5, 50))):
        made[chance.randrange(len(made))] = chance.randrange(256)
    return bytes(made[: chance.randrange(len(made))] if chance.random() < 0.05 else made)


def rounds(minutes: float, seed: int) -> Iterator[tuple[int, float]]:
    """Bytes and seconds of processor of each file that the door was given."""
    known, chance, until = honest(), random.Random(seed), time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as scratch:
        file, bundle = Path(scratch, "x.jsonl"), Path(scratch, "x.zip")
        while time.monotonic() < until:
            file.write_bytes(content := hostile(known, chance))
            bundle.write_bytes(zipped(content, chance))
            before = time.process_time()
            found = published.read(file)
            with suppress(UsageError):
                bundles.problems(bundles.unpack(bundle))
            yield 2 * len(content), time.process_time() - before
            if found.records and chance.random() < 0.1:
                site.build(Summary(found.records.values(), found.verdicts, found.refused))
                text_tables.render(text_tables.rows(list(found.records.values())), "csv")
                gc.collect()  # drawings leave cycles


def main(arguments: list[str] | None = None) -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    count, size, spent, worst, early = 0, 0, 0.0, 0.0, 0
    for taken, seconds in rounds(options.minutes, options.seed):
        count, size, spent = count + 1, size + taken, spent + seconds
        worst = max(worst, seconds / max(taken / 1e6, 0.01))
        early = early or (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if count == 500 else 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{count:,} files, {size / 1e6:.0f} MB, every one a page or a sentence; {spent / (size / 1e6):.2f} s a MB, ")
    print(f"at most {worst:.2f}; peak {early / 1024:.0f} MB after 500 files, {peak / 1024:.0f} MB at the end")


if __name__ == "__main__":
    main()
