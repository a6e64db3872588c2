"""Make ASV's bare virtualenv see one commit of this project, and the packages of the environment that ASV runs in.

python benchmarks/environment.py ENVIRONMENT TREE, by the environment's own Python, which has nothing but the standard
library: no download and no build, so a history runs offline and a commit is installed in no time. The packages' folder
comes in the variable PARAMID_PACKAGES, which the Makefile sets.
"""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

FOLDERS = {"harness": "", "methods": "methods", "tasks": "tasks"}  # as in setup.py


def install(environment: Path, tree: Path, packages: str) -> None:
    """Links in the shape of the installed package, and a `.pth` to them and to the shared packages."""
    shutil.rmtree(environment / "shape", ignore_errors=True)
    package = environment / "shape" / "paramid"
    package.mkdir(parents=True)
    for folder, place in FOLDERS.items():
        for source in (tree / folder).iterdir() if not place else [tree / folder]:
            (package / (place or source.name)).symlink_to(source)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (site / "paramid.pth").write_text(f"{package.parent}\n{packages}\n", encoding="utf-8")


if __name__ == "__main__":
    install(Path(sys.argv[1]), Path(sys.argv[2]).resolve(), os.environ["PARAMID_PACKAGES"])
