"""Write a page of docs/ from its suites: `python -m benchmarks.reproduce shallow`, from the root of the repository.

What the store holds is not run again.
"""

import argparse
from pathlib import Path

from benchmarks.reproduce import limits, pages, passive, relu, trained, tuning
from benchmarks.reproduce.biased_relu import page as biased_relu
from benchmarks.reproduce.hierarchy import page as hierarchy
from benchmarks.reproduce.high_threshold import page as high_threshold
from benchmarks.reproduce.pyramid import page as pyramid
from benchmarks.reproduce.quadratic import page as quadratic
from benchmarks.reproduce.shallow import page as shallow

PAPERS = (shallow, pyramid, biased_relu, high_threshold, quadratic, hierarchy, relu, trained, limits, passive, tuning)
PAGES = {paper.PAGE.name: paper.PAGE for paper in PAPERS}
DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Run the suites and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=__doc__)
    parser.add_argument("page", choices=PAGES)
    parser.add_argument("--store", type=Path, default=Path("paramid-store"), metavar="DIR")
    parser.add_argument("--out", type=Path, default=DOCS, metavar="DIR", help="default: docs/")
    parser.add_argument("--suites", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--workers", type=int, help="cells at once (default: one a core)")
    options = parser.parse_args()
    page = PAGES[options.page]
    suites = options.suites or list(page.sections)
    if unknown := set(suites) - set(page.sections):
        parser.error(f"{', '.join(sorted(unknown))}: no suite of this page, which has {', '.join(page.sections)}")
    made = {name: pages.played(name, options.store, options.workers) for name in suites}
    for path in pages.write(page, made, options.out):
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
