"""Whether `paramid regress` sees what is planted and nothing where nothing is.

python -m benchmarks.planted_regressions [--plants NAME …] [--rounds N] [--pairs 10]

Each plant is committed in a temporary copy of HEAD, never in this checkout, and the copy's two commits are compared:
the plant is caught where its own quantity is called worse. Then pairs of identical code in the quick form, where
every alarm is a false one. Exit code 1 where a plant was missed or a pair alarmed.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Plant:
    """What is replaced in a file, and the quantity that gets worse."""

    quantity: str
    file: str
    old: str
    new: str


STENCIL, QUERY = "methods/spans/hessians.py", "        f = oracle.query((rows[:, None, :] + points).flatten(0, 1))"
POINTS = "    points = offsets(x.shape[1], h, stencil, x)\n"
PULL = "            after = before + 2 * step * p.pull(before)\n"
NETWORK = "yield Network.shallow(w, shifts, name)"
PLANTS = {
    "step-twice-as-slow": Plant(
        "seconds", "methods/spans/power_ascent.py", PULL, f"            p.pull(before)\n{PULL}"
    ),
    "stencil-of-0.1": Plant("error", STENCIL, POINTS, f"    h = 1e-1\n{POINTS}"),
    "neuron-dropped": Plant(
        "error", "methods/spans/hessian_pipeline.py", NETWORK, NETWORK.replace("w, shifts", "w[:, 1:], shifts[1:]")
    ),
    "queries-twice": Plant("queries", STENCIL, QUERY, f"{QUERY.replace('f = ', '')}\n{QUERY}"),
    "leak-of-200-MB": Plant(
        "peak_mb", STENCIL, POINTS, f"    LEAK.append(torch.ones(25 * 2**20, dtype=torch.float64))\n{POINTS}"
    ),
}
PREAMBLE = {"leak-of-200-MB": "\nLEAK: list[Tensor] = []\n"}  # at the file's end, where every name is known


def git(folder: Path, *words: str) -> None:
    """Run git there, as nobody."""
    who = ("-c", "user.name=planted", "-c", "user.email=planted@invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def copied(folder: Path, root: Path = ROOT) -> None:
    """HEAD as a repository of its own with one commit."""
    archive = subprocess.run(["git", "-C", str(root), "archive", "HEAD"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    git(folder, "init")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "-m", "as it is")


def planted(folder: Path, name: str) -> None:
    """A second commit with the plant."""
    plant = PLANTS[name]
    file = folder / plant.file
    text = file.read_text(encoding="utf-8")
    if text.count(plant.old) != 1:
        raise SystemExit(f"{plant.file} holds {text.count(plant.old)} times what {name} replaces; one was wanted")
    file.write_text(text.replace(plant.old, plant.new) + PREAMBLE.get(name, ""), encoding="utf-8")
    git(folder, "commit", "-am", name)


def regress(folder: Path, base: str, *words: str) -> tuple[int, str]:
    """Exit code and output of `paramid regress BASE HEAD` in the copy."""
    command = [sys.executable, "-m", "paramid", "regress", base, "HEAD", "--repository", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout or done.stderr


def worse(output: str) -> list[tuple[str, str]]:
    """(cell, quantity) of every line that says worse."""
    return re.findall(r"^worse +(.+?): (\w+): ", output, flags=re.MULTILINE)


def caught(name: str, words: list[str]) -> bool:
    """Whether a plant is called by its name; prints what was said."""
    with tempfile.TemporaryDirectory() as made:
        copied(folder := Path(made))
        planted(folder, name)
        code, output = regress(folder, "HEAD~1", *words)
    named = [cell for cell, quantity in worse(output) if quantity == PLANTS[name].quantity]
    seen = code == 1 and bool(named)
    print(f"{name}: {'caught' if seen else 'MISSED'}, exit code {code}; {PLANTS[name].quantity} worse in {named}")
    others = sorted({quantity for _, quantity in worse(output)} - {PLANTS[name].quantity})
    print(f"  also worse: {', '.join(others) or 'nothing'}" if seen else output, flush=True)
    return seen


def alarms(pairs: int) -> int:
    """How many pairs of identical code alarm in the quick form; prints the lines that do."""
    count = 0
    with tempfile.TemporaryDirectory() as made:
        copied(folder := Path(made))
        for number in range(1, pairs + 1):
            code, output = regress(folder, "HEAD", "--quick")
            count += code == 1
            print(f"identical pair {number}: exit code {code}, {worse(output) or 'no alarm'}", flush=True)
    return count


def main(words: list[str] | None = None) -> int:
    """Plant, then compare like with like; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plants", nargs="*", choices=PLANTS, default=list(PLANTS), metavar="NAME")
    parser.add_argument("--rounds", type=int, help="of every plant's comparison (default: the command's own)")
    parser.add_argument("--suite", help="cells of every plant's comparison (default: the command's own)")
    parser.add_argument("--pairs", type=int, default=10, metavar="N")
    options = parser.parse_args(words)
    given = {"--rounds": options.rounds, "--suite": options.suite}
    passed_on = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    found = [caught(name, passed_on) for name in options.plants]
    false = alarms(options.pairs)
    print(f"{sum(found)} of {len(found)} plants caught, {false} alarms in {options.pairs} identical pairs")
    return int(not all(found) or false > 0)


if __name__ == "__main__":
    raise SystemExit(main())
