"""What the documents say is true: their code runs, their commands parse, every metric is explained."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from paramid.board import data_files, definitions
from paramid.board.summary import Summary
from paramid.cli import build_parser, main
from paramid.contracts import registry
from paramid.judging.metrics import METRICS
from paramid.records.publications import epochs

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [README, *(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))]


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


def test_the_code_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "readme"}
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), names)
    said = capsys.readouterr().out
    assert "Status.FINISHED" in said
    assert "\n1.0 " in said


@pytest.mark.slow
def test_a_model_file_comes_to_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "your_network"}
    with torch.random.fork_rng():
        for code in blocks("python", (ROOT / "docs" / "your-network.md").read_text(encoding="utf-8")):
            exec(compile(code, "your-network.md", "exec"), names)
    said = capsys.readouterr().out
    assert said.startswith("finished \nidentified 1.0\n")
    assert float(re.search(r"^error (\S+)", said, flags=re.MULTILINE)[1]) < 1e-8
    assert re.findall(r"^(\S+): ", said, flags=re.MULTILINE) == [
        *("precision=float32", "noise=0.001", "known=false", "known_activation=false")
    ]
    assert "known=false: finished, identified 1" in said
    assert not re.search(r": finished, identified 0", said)


OFFERED = [code for page in PAGES for code in blocks("python", page) if re.search("^METHODS = ", code, re.MULTILINE)]


@pytest.mark.slow
@pytest.mark.parametrize("code", OFFERED)
def test_every_method_of_the_documents_keeps_the_contract(code: str, tmp_path: Path) -> None:
    name = re.search(r'METHODS = {"([\w-]+)"', code)[1]
    plugin = tmp_path / f"{name.replace('-', '_')}.py"
    plugin.write_text(code)
    words = [sys.executable, "-m", "paramid", "check", name, "--plugin", str(plugin)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert f"{name}: keeps the contract" in done.stdout


def test_the_documents_offer_methods() -> None:
    assert len(OFFERED) == 2


@pytest.mark.slow
def test_a_trained_network_is_identified_and_what_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with torch.random.fork_rng():
        runpy.run_path(str(ROOT / "docs" / "identify_a_trained_network.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "\nfinished after" in f"\n{said}"
    errors = dict(re.findall(r"^(\w+) (\d\S*)$", said, flags=re.MULTILINE))
    assert set(errors) == {"weight_error", "bias_error_max", "outer_error", "error_bound"}
    assert max(map(float, errors.values())) < 1e-8
    assert float(re.search(r"its copy in float64: finished, weight_error (\S+)", said)[1]) < 1e-8
    assert set(re.findall(r"^(\w+): gave_up", said, flags=re.MULTILINE)) == {"relu", "sine", "nearly"}
    assert 1e-8 < float(re.search(r"float32: finished, weight_error (\S+)", said)[1]) < 1e-4
    assert 1e-5 < float(re.search(r"nearly: gave_up, residual (\S+),", said)[1]) < 1e-2


@pytest.mark.parametrize(
    "line",
    [li for page in PAGES for block in blocks("sh", page) for li in block.splitlines() if li.startswith("paramid")],
)
def test_the_commands_of_the_documents_parse(line: str) -> None:
    build_parser().parse_args(shlex.split(line, comments=True)[1:])


@pytest.mark.parametrize("target", re.findall(r"^make (\w+)", README, flags=re.MULTILINE))
def test_the_targets_of_the_readme_exist(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


def test_every_metric_is_explained() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    assert not [name for name in METRICS if f"`{name}`" not in page]


def test_the_board_of_the_readme_is_what_was_published(capsys: pytest.CaptureFixture[str]) -> None:
    command, _, rest = README.partition("<!-- board: paramid ")[2].partition(" -->\n")
    words = command.replace("leaderboard/records", str(ROOT / "leaderboard" / "records")).split()
    assert main(words) == 0
    told = capsys.readouterr().out
    assert rest.partition("<!-- end of board")[0] == told, f"stale: paste what `paramid {command}` prints"


def test_the_picture_of_the_readme_is_made_of_what_was_published(tmp_path: Path) -> None:
    path, command = re.search(r"!\[.*\]\((.*)\)\n\n\*`paramid (plot .*)`\*", README).groups()
    words = command.replace("leaderboard/records", str(ROOT / "leaderboard" / "records")).split()
    assert words[-2:] == ["--out", path]
    assert main([*words[:-1], str(tmp_path / "again.svg")]) == 0
    assert (tmp_path / "again.svg").read_text() == (ROOT / path).read_text(), f"stale: run `paramid {command}`"


def test_a_record_is_counted_once_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    where = str(ROOT / "leaderboard" / "records")
    shown = epochs.shown(where, pytest.fail)
    summary = Summary(shown.ranked, shown.verdicts)
    assert main(["table", "--records", where, "--best", "1", "--format", "markdown"]) == 0
    counted = f"*{len(summary.records):,} records: "
    assert counted in capsys.readouterr().out
    assert counted in README
    assert f"<li>{len(summary.records):,} runs</li>" in definitions.facts(summary)
    assert sum(len(cell.records) for cell in summary.results.values()) == len(summary.records)


def test_a_leader_is_the_same_in_the_table_and_on_the_board() -> None:
    shown = epochs.shown(str(ROOT / "leaderboard" / "records"), pytest.fail)
    boards = json.loads(data_files.as_json(Summary(shown.ranked, shown.verdicts)))["boards"]
    rows = re.findall(r"^\| ([\w-]+) +\| (\w+) +\| (\S+) +\|[^|]*\| (\d+)/(\d+) +\|", README, flags=re.MULTILINE)
    assert 8 < len(rows) < 13
    for family, kind, leads, solved, accepted in rows:
        first = boards[family][kind]["rows"][0]
        assert (first["method"], first["tasks_solved"], first["tasks_accepted"]) == (leads, int(solved), int(accepted))


def test_readme_names_every_entry() -> None:
    for group in ("methods", "tasks"):
        for name in registry.BUILT_IN[group]:
            assert name in ("truth", "random") or f"| `{name}` |" in README


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


def test_the_table_of_relu_networks_is_that_of_its_page() -> None:
    rows = re.findall(r"^\| (?:network \| identified|D=).*$", README, flags=re.MULTILINE)
    page = (ROOT / "docs" / "relu.md").read_text().splitlines()
    assert len(rows) > 5
    assert not [row for row in rows if row not in page], "stale: paste the rows of docs/relu.md"


def test_what_is_said_of_trained_networks_is_what_their_page_says() -> None:
    page = (ROOT / "docs" / "trained.md").read_text()
    rows = re.findall(r"^\| (?:data \||\w+ \| [\d-]+ \|).*$", README, flags=re.MULTILINE)
    assert len(rows) > 5
    assert not [row for row in rows if row not in page.splitlines()], "stale: paste the rows of docs/trained.md"
    told = re.findall(r"\d+ of \d+ (?:networks|runs)", README)
    assert len(told) == 2
    assert not [words for words in told if words not in page]
