"""Results of ASV are read as they are, and the page over commits says what is planted in them and fetches nothing."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from paramid.board import history
from paramid.cli import main
from paramid.pictures import history as picture
from paramid.statistics import asv_results
from paramid.statistics.asv_results import Curve
from paramid.words.naming import UsageError
from tests.test_benchmarks import module

CELL = "spm | shallow:D=5,m=3"
COLUMNS = ["result", "params", "version"]
CELLS = [[repr(CELL), "'<b>&'"]]
KERNEL = [["10", "20"], ["'cpu'", "'cuda'"]]


def result(folder: Path, number: int, error: float | None, seconds: float, environment: str = "venv") -> None:
    results = {
        "cells.Few.track_error": [[error, 1e-3], CELLS, "1"],
        "kernels.Step.time_kernel": [[seconds, math.nan, 4 * seconds, math.nan], KERNEL, "2"],
        "cells.Few.track_queries": [None, CELLS],
    }
    plain = {"commit_hash": f"{number}" * 40, "date": 10**12 + number, "result_columns": COLUMNS, "results": results}
    (folder / "here").mkdir(exist_ok=True)
    (folder / "here" / f"{10 - number}-{environment}.json").write_text(json.dumps(plain))
    (folder / "here" / "machine.json").write_text("{}")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for number, (error, seconds) in enumerate([(1e-5, 1.0), (None, 1.1), (2e-5, 4.4)]):
        result(tmp_path, number, error, seconds)
    return tmp_path


def test_values_failures_and_gaps_are_read(results: Path) -> None:
    found = asv_results.read(results)
    assert [int(c.hash[0]) for c in found] == [0, 1, 2]
    assert found[0].values == {
        Curve(CELL, "error"): 1e-5, Curve("<b>&", "error"): 1e-3,
        Curve("Step", "time", "10, cpu"): 1.0, Curve("Step", "time", "20, cpu"): 4.0,
    }  # fmt: skip
    assert found[1].values[Curve(CELL, "error")] == math.inf


def test_two_environments_of_a_commit_are_one(results: Path) -> None:
    result(results, 2, 3e-5, 4.4, "wenv")
    assert [c.values[Curve(CELL, "error")] for c in asv_results.read(results)] == [1e-5, math.inf, 3e-5]


def test_what_is_no_result_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no results of ASV"):
        asv_results.read(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "x.json").write_text('{"results": 3}')
    with pytest.raises(UsageError, match=r"x\.json is no result of ASV"):
        asv_results.read(tmp_path)


def test_the_page_draws_every_value_and_fetches_nothing(results: Path) -> None:
    page = history.alone(asv_results.read(results))
    assert page == history.alone(asv_results.read(results))
    assert not re.search(r"(?:src|href)=|url\(|@import", page)
    assert "://" not in page
    assert "<b>&" not in page
    assert page.count("<svg") == 3
    for told in ("11111111: error inf", "22222222: error 2e-5", "22222222: time, 20, cpu 17.6"):
        assert f"<title>{told}</title>" in page
    assert "1 for the worse, 1 for the better" in page  # both sizes of the kernel alike: the machine
    assert re.search(r">22222222</code></th>.*?>2001-.*?▼ better.*?<td>error</td><td>inf</td><td>2e-5</td>", page)
    told = history.alone(asv_results.read(results), {"2" * 40: "Steps are <fast>"})
    assert told.count("<td>Steps are &lt;fast&gt;</td>") == 2


def test_commits_lead_to_the_project(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "project_url", lambda: "https://example.org/paramid")
    assert f'<a href="https://example.org/paramid/commit/{"2" * 40}"><code' in history.body(asv_results.read(results))


def test_a_line_breaks_where_a_commit_has_nothing(results: Path) -> None:
    commits = asv_results.read(results)
    step, cell = ([one.get_ydata() for one in picture.history(name, commits).axes[0].lines] for name in ("Step", CELL))
    pieces = [
        [int(np.isfinite(np.diff(values)).sum()) for values in lines if len(values) == 3] for lines in (step, cell)
    ]
    assert [max(each) for each in pieces] == [2, 0]
    with pytest.raises(UsageError, match="Step was measured on fewer than two commits; one point is no curve"):
        picture.history("Step", commits[:1])


def test_no_step_is_said(tmp_path: Path) -> None:
    result(tmp_path, 0, 1e-16, 1.0)
    result(tmp_path, 1, 4e-15, 1.2)  # rounding, and less than half again
    assert "No step is more than noise." in history.alone(asv_results.read(tmp_path))


def test_the_commands_write_the_page(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module("publish").main(["--results", str(results), "--out", str(tmp_path / "html" / "index.html")])
    assert "index.html: 3 commits" in capsys.readouterr().out
    assert (tmp_path / "html" / "index.html").read_text() == history.alone(asv_results.read(results))
    (tmp_path / "records").mkdir()
    words = ["board", "--records", str(tmp_path / "records"), "--out", str(tmp_path / "site")]
    assert main([*words, "--history", str(results)]) == 0
    assert "href=history.html" in (tmp_path / "site" / "index.html").read_text()
    assert "<title>Over commits" in (tmp_path / "site" / "history.html").read_text()
    assert main(words) == 0
    assert "history.html" not in (tmp_path / "site" / "index.html").read_text()
