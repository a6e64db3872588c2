"""Map the source folders to the one package that users import, and pack the published records into it."""

import json
import lzma
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

FOLDERS = {"paramid": "harness", "paramid.methods": "methods", "paramid.tasks": "tasks"}
RECORDS = Path(__file__).parent / "leaderboard" / "records"


class BuildWithRecords(build_py):
    """The modules, and the newest published record of every cell in one small file."""

    def run(self):
        """Build the package."""
        super().run()
        if not self.editable_mode and (lines := newest_lines()):
            target = Path(self.build_lib, "paramid", "published", "records.jsonl.xz")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(lzma.compress("".join(lines).encode(), preset=9))


def newest_lines():
    """The last published line of every cell, and the verdicts on what stays."""
    cells, verdicts = {}, []
    for path in sorted(RECORDS.glob("*.jsonl")):
        for line in path.open(encoding="utf-8"):
            plain = json.loads(line)
            if r := plain.get("record"):
                cells[r["method"], r["task"], r["seed"], r["device"]] = plain["sha256"], line
            else:
                verdicts.append((plain["verdict"]["record"], line))
    kept = dict(cells.values())
    return [*kept.values(), *(line for record, line in verdicts if record in kept)]


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
