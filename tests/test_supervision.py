"""Whatever a method does, its cell becomes a record and the others do not notice."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import paramid
from paramid.contracts import plugins, registry
from paramid.records.record import Record
from paramid.running.cell import plan_cell
from paramid.running.supervisor import Supervisor
from paramid.wall import jail

plugins.add_plugin(Path(__file__).with_name("misbehaving.py"))
TASK = "shallow:D=4,m=2,N=1000000"
ENDINGS = registry.load(registry.target("methods", "misbehaving")).ENDINGS
LIMIT = {
    how: 20.0 if how in ("floods", "grandchildren") else 2.0 for how in ENDINGS
}  # a thousand claims take their time


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    """Every misbehaviour, one after the other, in children of one server."""
    made = {}
    with Supervisor(threads=1) as server:
        for how in ENDINGS:
            planned = plan_cell(
                f"misbehaving:how={how}", TASK, seed=0, time_limit=LIMIT[how], query_limit=1000, memory_limit=4000.0
            )
            made[how] = server.run(planned, planned.key(), {}).record
    return made


@pytest.mark.parametrize("how", ENDINGS)
def test_every_ending_is_its_own_status(how: str, records: dict[str, Record]) -> None:
    assert records[how].status is ENDINGS[how], records[how]


@pytest.mark.parametrize("how", [h for h in ENDINGS if h not in ("nothing", "declines")])
def test_the_last_judged_claim_is_kept(how: str, records: dict[str, Record]) -> None:
    assert records[how].claims[0].kind == "Network"
    assert {"weight_error", "output_error"} <= set(records[how].metrics)


def test_a_cell_that_is_stopped_before_it_is_born_does_not_run() -> None:
    planned = plan_cell("misbehaving", TASK, seed=0)
    with Supervisor(threads=1) as server:
        server.stop()
        record = server.run(planned, planned.key(), {}).record
    assert (record.status, record.claims) == (paramid.Status.INTERRUPTED, ())


def test_a_cell_sees_no_channel_but_its_own() -> None:
    cells = [
        plan_cell(f"misbehaving:how={how}", TASK, seed=0, time_limit=3.0)
        for how in ("dawdles", "babbles", "trails_off")
    ]
    with Supervisor(threads=1) as server, ThreadPoolExecutor(1) as pool:
        running = pool.submit(server.run, cells[0], cells[0].key(), {})
        while not running.done():
            for planned in cells[1:]:
                found = server.run(planned, planned.key(), {}).record
                assert found.status is ENDINGS[found.method.partition("how=")[2]]
    assert running.result().record.status is paramid.Status.TIMED_OUT


def test_a_method_that_would_kill_its_server_ends_alone() -> None:
    with Supervisor(threads=1) as server:
        cells = [plan_cell(f"misbehaving:how={how}", TASK, time_limit=2.0) for how in ("kills_the_server", "well")]
        guilty, next_one = (server.run(planned, planned.key(), {}).record for planned in cells)
    assert guilty.status in (paramid.Status.TIMED_OUT, paramid.Status.CRASHED)  # where nothing walls off its signals
    assert next_one.status is paramid.Status.FINISHED


@pytest.mark.parametrize("name", ["wardens", "methods"])
def test_a_server_that_is_killed_is_started_again(name: str) -> None:
    with Supervisor(threads=1) as supervisor, ThreadPoolExecutor(1) as pool:
        cells = [plan_cell(f"misbehaving:how={how}", TASK, time_limit=3.0) for how in ("hangs", "well")]
        supervisor.run(cells[1], cells[1].key(), {})
        running = pool.submit(supervisor.run, cells[0], cells[0].key(), {})
        time.sleep(1)
        methods = supervisor._processes[0].pid
        os.kill(methods if name == "methods" else jail.children(methods)[0], signal.SIGKILL)
        time.sleep(0.2)
        next_one = supervisor.run(cells[1], cells[1].key(), {}).record
        hit = running.result().record
    assert next_one.status is paramid.Status.FINISHED
    assert hit.status is (paramid.Status.CRASHED if name == "wardens" else paramid.Status.TIMED_OUT)
    assert not any(Path(server.scratch).exists() for server in (supervisor.wardens, supervisor.methods))


def test_reasons_and_traces_tell(records: dict[str, Record]) -> None:
    assert records["raises"].reason == "RuntimeError: planned"
    assert "in _raises" in records["raises"].traceback
    assert records["segfaults"].reason == "killed by signal 11 (SIGSEGV)"
    assert records["greedy"].reason == "1000000 queries asked, 1000 granted"
    assert records["undeclared"].reason.startswith("AccessRefused: derivatives were asked for")
    assert "4 directions claimed, the teacher has 2" in records["too_many"].reason
    assert records["hangs"].seconds == 2.0
    assert records["numpy"].reason == "Directions: columns is a ndarray; a tensor was wanted"
    assert records["babbles"].reason.startswith("wrote into the harness' channel")
    assert records["killed"].reason == "killed by signal 9 (SIGKILL, from outside or for want of memory)"
    assert records["signals"].reason == f"killed by signal {signal.SIGRTMIN + 6} (a real-time signal)"
    assert records["surrogate"].reason == "RuntimeError: a file named \ufffd\ufffd[2J is not there"
    assert "its __str__ raised ZeroDivisionError" in records["wordless"].reason
    assert len(records["shouts"].reason) <= 20_000
    assert "KeyboardInterrupt: planned" in records["interrupts"].printed
    assert records["floods"].reason == "yielded 1,000 claims and did not end"
    assert records["trails_off"].reason == "stopped after 2 s"
    assert "an oracle cannot be copied" in records["copies"].reason
    assert records["diverges"].metrics["identified"] == 0
    assert "torch.complex128 values" in records["imaginary"].reason
    assert "doubles of 8 bytes" in records["hoards"].reason or "allocate" in records["hoards"].reason


def test_the_last_lines_printed_are_kept(records: dict[str, Record]) -> None:
    assert records["prints"].printed.endswith(f"line 49999 {'.' * 100}\n")
    assert len(records["prints"].printed) <= 16_384


def test_a_cell_has_the_threads_and_memory_it_was_given(records: dict[str, Record]) -> None:
    assert records["well"].threads == 1
    assert records["well"].budget == {"seconds": 2.0, "queries": 1000, "memory_mb": 4000.0}
    assert 0 < records["well"].peak_mb < 2000


def test_throw_lets_the_error_out() -> None:
    with pytest.raises(RuntimeError, match="planned"):
        paramid.run("misbehaving:how=raises", TASK, throw=True)


def test_a_record_survives_json() -> None:
    record = replace(paramid.run("truth", TASK, throw=True), stats={"gap": float("inf"), "left": 0.5})
    assert Record.from_json(record.to_json()) == record
