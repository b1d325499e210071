"""What a run does when something in it fails, and what it says about it."""

import os
import random
from itertools import islice
from pathlib import Path

import pytest

from loadtest.compare import flood, scenarios, writer
from loadtest.compare.environment import BenchEnvironment, make_database
from loadtest.compare.machine import CannotMeasure, Cores, require_quiet
from loadtest.compare.pages import describe_page
from loadtest.compare.results import COLUMNS, Rounds, ScenarioResult
from loadtest.compare.scenarios import ScheduledScenario, measure_scenarios
from loadtest.compare.servers import SERVERS


@pytest.fixture
def bench(tmp_path: Path) -> BenchEnvironment:
    cores = Cores(frozenset({0}), frozenset({0}))
    return BenchEnvironment(
        tmp_path, tmp_path / "bench.db", {}, cores, [SERVERS["TrendVault"], SERVERS["Go"]]
    )


def test_a_scenario_that_fails_is_a_missed_goal_and_the_others_run(
    bench: BenchEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_bench: BenchEnvironment, _rounds: Rounds) -> ScenarioResult:
        raise CannotMeasure("its disk is full")

    def succeed(bench: BenchEnvironment, _rounds: Rounds) -> ScenarioResult:
        bench.worker_mb |= {"TrendVault": 70, "Bun, socket that reads nothing": 44}
        return ScenarioResult("start", ("ms",), [("a", (1.0,))])

    for name, measure in (("memory", fail), ("start", succeed)):
        monkeypatch.setitem(scenarios.SCHEDULE, name, ScheduledScenario(measure, (), Rounds(1, 1)))
    failed, measured = measure_scenarios(["memory", "start"], bench, quick=True)
    assert failed.notes == ["not measured: its disk is full"]
    assert [goal.is_met for goal in failed.goals] == [False]
    assert [(goal.reached, goal.floor, goal.is_met) for goal in measured.goals] == [(70, 44, False)]


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


def test_a_published_run_refuses_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.49, 0, 0))
    require_quiet()
    monkeypatch.setattr(os, "getloadavg", lambda: (0.5, 0, 0))
    with pytest.raises(CannotMeasure, match=r"0\.50, and a published result needs one under 0\.5"):
        require_quiet()


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


def test_the_writer_is_measured_beside_a_program_that_writes_the_same_rows(
    bench: BenchEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_LINES", 100)
    make_database(bench.database, 100)
    result = writer.measure_writer(bench, Rounds(1, 1))
    assert [name for name, _ in result.rows] == [
        f"{command}, 100 observations" for command in ("ingest", "cron", "decode and insert")
    ]
