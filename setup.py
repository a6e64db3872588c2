"""Map the source folders to the one package that users import, and pack the published records into it."""

import json
import lzma
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

FOLDERS = {"paramid": "harness", "paramid.methods": "methods", "paramid.tasks": "tasks"}
RECORDS, EPOCHS = (Path(__file__).parent / "leaderboard" / name for name in ("records", "epochs"))


class BuildWithRecords(build_py):
    """The modules, the published records that stand in one small file, and the epochs that they are of."""

    def run(self):
        """Build the package."""
        super().run()
        if not self.editable_mode and (lines := standing_lines()):
            target = Path(self.build_lib, "paramid", "published")
            (target / "epochs").mkdir(parents=True, exist_ok=True)
            (target / "records.jsonl.xz").write_bytes(lzma.compress("".join(lines).encode(), preset=9))
            for path in EPOCHS.glob("*.json"):
                (target / "epochs" / path.name).write_bytes(path.read_bytes())


def standing_lines():
    """The lines of what epochs gave, which stand whole or not at all; where none gave any, the last of every cell."""
    files = [path.read_text(encoding="utf-8").splitlines(keepends=True) for path in sorted(RECORDS.glob("*.jsonl"))]
    told = [[(json.loads(line), line) for line in lines] for lines in files]
    entered = [lines for lines in told if any("entry" in plain for plain, _ in lines)]
    records, cells = [], {}
    for plain, line in (both for lines in entered or told for both in lines):
        if entered and "verdict" not in plain:
            records.append(((min(plain.keys() - {"schema", "sha256"}), plain["sha256"]), line))
        elif r := plain.get("record"):
            cells[r["method"], r["task"], r["seed"], r["device"]] = ("record", plain["sha256"]), line
    kept = dict(records or cells.values())
    verdicts = [
        line for lines in told for plain, line in lines if ("record", plain.get("verdict", {}).get("record")) in kept
    ]
    return [*kept.values(), *verdicts]


setup(
    package_dir=FOLDERS,
    packages=[
        name
        for package, folder in FOLDERS.items()
        for name in (package, *(f"{package}.{sub}" for sub in find_packages(folder)))
    ],
    package_data={"paramid": ["py.typed", "suites/*.toml", "templates/*.py", "board/*.css", "board/*.js"]},
    cmdclass={"build_py": BuildWithRecords},
)
