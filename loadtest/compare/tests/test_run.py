"""What a run does when something in it fails, and what it says about it."""

import os
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path

import pytest

from loadtest.compare import flood, machine, scenarios
from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.frameworks import FRAMEWORK_HEADER, measure_frameworks
from loadtest.compare.machine import CannotMeasure, Cores, wait_until_quiet
from loadtest.compare.pages import describe_page
from loadtest.compare.results import (
    COLUMNS,
    DOCUMENT,
    BenchResult,
    Rounds,
    ScenarioResult,
    framework_lines,
    write_into_document,
)
from loadtest.compare.running import RunningServer
from loadtest.compare.scenarios import ScheduledScenario, measure_scenarios
from loadtest.compare.servers import SERVERS


@pytest.fixture
def bench(tmp_path: Path) -> BenchEnvironment:
    cores = Cores(frozenset({0}), frozenset({0}))
    return BenchEnvironment(
        tmp_path, tmp_path / "bench.db", {}, cores, [SERVERS["TrendVault"], SERVERS["Go"]]
    )


def framework_row(req_s: float, cpu: float, p99: float) -> tuple[float | None, ...]:
    known = {"req/s": req_s, "CPU us": cpu, "user us": cpu / 4, "system us": cpu * 3 / 4, "p99 ms": p99}
    return tuple(known.get(column) for column in FRAMEWORK_HEADER)


def test_a_scenario_that_fails_is_a_missed_goal_and_the_others_run(
    bench: BenchEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_bench: BenchEnvironment, _rounds: Rounds) -> ScenarioResult:
        raise CannotMeasure("its disk is full")

    def succeed(bench: BenchEnvironment, _rounds: Rounds) -> ScenarioResult:
        bench.worker_mb.append(70)
        return ScenarioResult("workers", ("ms",), [("a", (1.0,))])

    for name, measure in (("memory", fail), ("workers", succeed)):
        monkeypatch.setitem(scenarios.SCHEDULE, name, ScheduledScenario(measure, (), Rounds(1, 1)))
    failed, measured = measure_scenarios(["memory", "workers"], bench, quick=True)
    assert failed.notes == ["not measured: its disk is full"]
    assert [goal.is_met for goal in failed.goals] == [False]
    assert [(goal.reached, goal.is_met) for goal in measured.goals] == [(70, False)]


def test_a_server_that_fails_is_left_out_and_a_row_says_why(bench: BenchEnvironment) -> None:
    for server in list(bench.servers):
        if server.name == "Go":
            with bench.skip_if_unavailable(server):
                raise OSError("no such program")
    assert [server.name for server in bench.servers] == ["TrendVault"]
    result = describe_page("plain", {}, bench.missing)
    assert result.rows == [("Go", (None,) * len(result.header))]
    assert result.notes == ["Go was not measured: no such program"]
    with pytest.raises(CannotMeasure, match="TrendVault: gone"), bench.skip_if_unavailable(bench.servers[0]):
        raise OSError("gone")


def test_a_server_that_fails_in_a_table_of_others_is_measured_in_the_next(
    bench: BenchEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_bench: BenchEnvironment, name: str, *, warm: bool) -> AbstractContextManager[RunningServer]:
        assert warm
        if name == "Express 5":
            raise CannotMeasure("does not answer")
        return nullcontext(RunningServer(SERVERS["TrendVault"], name, bench.folder / "log"))

    figures = dict.fromkeys(COLUMNS, 1.0)
    monkeypatch.setattr(BenchEnvironment, "started", start)
    monkeypatch.setattr(BenchEnvironment, "measure", lambda *_arguments: figures)
    result = measure_frameworks("xypriss", bench, Rounds(2, 1))
    rows = dict(result.rows)
    assert rows["Express 5"] == (None,) * len(FRAMEWORK_HEADER)
    assert rows["TrendVault"] == rows["Fastify"] == (*figures.values(), 0)
    assert result.notes[-1] == "Express 5 was not measured: does not answer"
    assert bench.missing == {}


def test_a_published_run_waits_for_a_quiet_machine_and_refuses_a_busy_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads: Iterator[float] = iter([3.0, 0.5, 0.49])
    monkeypatch.setattr(os, "getloadavg", lambda: (next(loads), 0, 0))
    monkeypatch.setattr(machine, "_LOOK_AGAIN_SECONDS", 0)
    wait_until_quiet()
    assert list(loads) == []
    monkeypatch.setattr(os, "getloadavg", lambda: (0.5, 0, 0))
    monkeypatch.setattr(machine, "_QUIET_WITHIN_SECONDS", -1)
    with pytest.raises(CannotMeasure, match=r"0\.50, and a published result needs one under 0\.5"):
        wait_until_quiet()


def test_the_tables_of_others_are_lines_of_the_document(tmp_path: Path) -> None:
    nothing = (None,) * len(FRAMEWORK_HEADER)
    rows = [
        ("Fastify", framework_row(90, 12, 3)),
        ("TrendVault", framework_row(80, 10, 3)),
        ("Encore.ts", nothing),
    ]
    scenario = ScenarioResult("encore", FRAMEWORK_HEADER, rows)
    result = BenchResult("full", 1, 1, {"cpu": "A CPU", "load before": "0.12"}, scenarios=[scenario])
    assert list(framework_lines(result)) == [
        ("encore", "Fastify", "62,207", "90", "3 + 9", "3"),
        ("encore", "TrendVault", "-", "80", "2.50 + 7.50", "3"),
        ("encore", "Encore.ts", "121,005", "-", "- + -", "-"),
    ]
    document = tmp_path / "benchmarks.md"
    mark = "<!-- frameworks: begin, written by bin/bench --frameworks --publish -->"
    document.write_text(f"before\n{mark}\nold\n<!-- frameworks: end -->\nafter\n")
    for _ in range(2):
        write_into_document(result, document)
    written = document.read_text()
    assert written.startswith("before\n")
    assert written.endswith("-->\nafter\n")
    assert "old" not in written
    assert "Load average at the start: 0.12. A CPU." in written
    assert written.count("| encore | Fastify |") == 1


def test_the_document_has_the_marks_between_which_the_table_is_written() -> None:
    assert DOCUMENT.read_text().count("<!-- frameworks: ") == 2


@pytest.mark.parametrize(
    "name", [name for name in flood.FLOODS if name not in ("one query", "videos", "exports")]
)
def test_a_flood_asks_hardly_anything_twice(name: str) -> None:
    targets, _coding = flood.FLOODS[name]
    drawn = list(islice(targets(random.Random(7), 1), 2000))
    assert len(set(drawn)) > 1980
    assert all(target.startswith("/api/") for target in drawn)


def test_user_and_system_time_are_columns_of_their_own() -> None:
    assert COLUMNS[:3] == ("CPU us", "user us", "system us")
