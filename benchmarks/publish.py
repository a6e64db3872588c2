"""ASV's results as one page that fetches nothing: python -m benchmarks.publish [--results DIR] [--out FILE]."""

import argparse
from pathlib import Path


def main(words: list[str] | None = None) -> None:
    """Write the page."""
    from paramid.board import history
    from paramid.records.provenance import subjects
    from paramid.statistics import asv_results

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("benchmarks") / "results")
    parser.add_argument("--out", type=Path, default=Path(".asv") / "html" / "index.html")
    options = parser.parse_args(words)
    found = asv_results.read(options.results)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(history.alone(found, subjects(options.results, [c.hash for c in found])), encoding="utf-8")
    print(f"wrote {options.out}: {len(found)} commits")


if __name__ == "__main__":
    main()
