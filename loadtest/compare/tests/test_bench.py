import json
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import psutil
import pytest

from loadtest.charts import draw_costs
from loadtest.compare.environment import find_difference, mix_targets, write_mix, write_observations
from loadtest.compare.machine import CannotMeasure, available_cores, divide_cores, on_cores
from loadtest.compare.options import PUBLISHED
from loadtest.compare.pages import describe_page
from loadtest.compare.results import (
    COLUMNS,
    BenchResult,
    Measurement,
    ScenarioResult,
    goal_of,
    print_result,
    ratio,
    spread_percent,
    write_json,
)
from loadtest.compare.running import RunningServer, parse_figures
from loadtest.compare.servers import SERVERS, file_server_command
from loadtest.levels import Goal
from loadtest.tables import result_console

_TWO_BUSY_PROCESSES = """
import os, time
os.fork()
while time.process_time() < 0.1: pass
print("done", flush=True)
time.sleep(60)
"""


def measurement(cpu_us: float, *, errors: float = 0) -> Measurement:
    halves = {"user us": cpu_us / 2, "system us": cpu_us / 2}
    return {**dict.fromkeys(COLUMNS, 7.0), "CPU us": cpu_us, **halves, "errors": errors}


def plain_result(**costs: list[float]) -> BenchResult:
    measured = {name: [measurement(cost) for cost in values] for name, values in costs.items()}
    return BenchResult("full", 3, 3, {"cpu": "A <CPU> & more"}, scenarios=[describe_page("plain", measured)])


def printed(result: BenchResult) -> str:
    console = result_console()
    with console.capture() as capture:
        print_result(result, console)
    return capture.get()


def test_wrks_figures_are_read() -> None:
    assert parse_figures('Running 2s test\nfigures {"requests":9,"p99 ms":1.5}\n') == {
        "requests": 9,
        "p99 ms": 1.5,
    }


@pytest.mark.parametrize("output", ["unable to connect to 127.0.0.1:1", 'figures {"requests":0}'])
def test_wrk_without_responses_is_an_error_with_the_end_of_its_output(output: str) -> None:
    with pytest.raises(CannotMeasure, match=output):
        parse_figures(output)


@pytest.mark.parametrize(
    ("available", "count", "server", "driver"),
    [({0, 1}, 1, {0}, {1}), ({2, 5, 7}, 1, {5}, {7}), ({0, 1, 2, 3}, 2, {1, 2}, {3}), ({4}, 1, {4}, {4})],
)
def test_the_server_and_its_driver_get_cores_of_their_own(
    available: set[int], count: int, server: set[int], driver: set[int]
) -> None:
    divided = divide_cores(frozenset(available), count)
    assert (set(divided.server), set(divided.driver)) == (server, driver)
    assert divided.are_apart == (len(available) > 1)


def test_cpu_and_memory_of_a_server_are_those_of_all_its_processes(tmp_path: Path) -> None:
    core = frozenset({min(available_cores())})
    server = RunningServer(SERVERS["TrendVault"], "", tmp_path / "log")
    with on_cores(core):
        server.start_process([sys.executable, "-c", _TWO_BUSY_PROCESSES], {})
    try:
        while server.log.read_text().count("done") < 2:
            assert not server.has_ended, server.log.read_text()
            time.sleep(0.01)
        processes = server.processes()
        assert [frozenset(process.cpu_affinity()) for process in processes] == [core, core]
        assert sum(server.cpu_seconds()) >= 0.15
        assert all(megabytes > 2 for megabytes in server.rss_mb())
    finally:
        server.stop()
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []


def test_a_ratio_is_taken_within_each_round() -> None:
    ours = [measurement(10), measurement(20), measurement(30)]
    assert ratio("CPU us", ours, [measurement(10), measurement(10), measurement(40)]) == 1
    assert ratio("CPU us", ours, []) is None
    unmeasured = measurement(0)
    assert ratio("CPU us", ours, [measurement(10), measurement(10), unmeasured]) == 1.5
    assert ratio("CPU us", ours, [unmeasured] * 3) is None


def test_the_spread_is_half_the_distance_of_the_extremes() -> None:
    assert spread_percent([9, 10, 12]) == 15


@pytest.mark.parametrize(
    ("theirs", "difference"),
    [
        ({"a": 1.0, "b": [1, 2]}, None),
        ({"a": 1, "b": [1, 3]}, "3.0 instead of 2.0"),
        ({"a": 1, "b": [1]}, "1.0 instead of 1.0,"),
        ({"b": [1, 2], "a": 1}, '"b": [ instead of "a": 1.0,'),
        ({"a": None, "b": [1, 2]}, '"a": null, instead of "a": 1.0,'),
    ],
)
def test_two_answers_differ_where_it_says(theirs: object, difference: str | None) -> None:
    assert find_difference(theirs, {"a": 1, "b": [1, 2]}) == difference


def test_the_mix_is_the_same_every_time_and_names_only_pages_that_nginx_has(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_mix(tmp_path / name)
    text = (tmp_path / "one").read_text()
    assert text == (tmp_path / "two").read_text()
    requested = {line.partition("\t")[0] for line in text.splitlines()}
    assert requested <= set(mix_targets())
    assert len(requested) > 100


def write_answer(folder: Path, name: str, fields: dict[str, str]) -> None:
    (folder / "answers").mkdir(exist_ok=True)
    (folder / f"answers/{name}.json").write_text(json.dumps({"status": 200, "fields": fields}))


def test_nginx_serves_the_origins_header_fields(tmp_path: Path) -> None:
    write_answer(tmp_path, "plain", {"vary": "Accept-Encoding", "signature": 'a="b\\"', "date": "today"})
    write_answer(tmp_path, "unchanged", {"vary": "Accept-Encoding"})
    file_server_command(tmp_path, 81, workers=1)
    written = (tmp_path / "nginx-81.conf").read_text()
    assert 'add_header vary "Accept-Encoding";' in written
    assert 'map $status $field1 { default "a=\\"b\\\\\\""; 304 ""; }' in written
    assert "add_header signature $field1;" in written
    assert "today" not in written
    assert "@" not in written


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal("x", 1.05, 1.05, ""), True),
        (Goal("x", 1.06, 1.05, ""), False),
        (Goal("x", 8, 8, "", at_least=True), True),
        (Goal("x", 7.9, 8, "", at_least=True), False),
        (Goal("x", None, 8, ""), False),
    ],
)
def test_a_goal_is_met_up_to_its_bound_and_never_unmeasured(goal: Goal, *, met: bool) -> None:
    assert goal.is_met is met


@pytest.mark.parametrize(
    ("samples", "interval", "verdict"),
    [
        ([0.9, 1.1, 1.0], (0.9, 1.1), "undecided"),
        ([0.9] * 12 + [2.0] * 3, (0.9, 0.9), "met"),
        ([*range(1, 16)], (4, 12), "missed"),
    ],
)
def test_a_goal_is_decided_where_all_of_the_interval_of_its_median_is(
    samples: list[float], interval: tuple[float, float], verdict: str
) -> None:
    goal = goal_of("x", samples, 1, "")
    assert (goal.interval, goal.verdict) == (interval, verdict)


def test_a_missed_goal_a_missing_server_and_a_warning_are_printed() -> None:
    result = plain_result(TrendVault=[12, 12], nginx=[10, 10])
    result.missing = {"Go": "go is missing: install Go"}
    result.warnings = ["The machine was busy"]
    lines = [" ".join(line.split()) for line in printed(result).splitlines()]
    assert "MISSED CPU, default page, plain 1.20 x nginx 1.20 to 1.20 - at most 1" in lines
    assert "MISSED CPU, default page, plain not measured - 1 at most 1.05" in lines
    assert "missing: Go: go is missing: install Go" in lines
    assert "warning: The machine was busy" in lines


def test_a_table_has_every_figure_however_narrow_the_terminal_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    result = plain_result(TrendVault=[12.5, 12.5])
    result.scenarios.append(ScenarioResult("start", ("ms", "+- %"), [("a row", (1234.5, None))]))
    rows = [line.split() for line in printed(result).splitlines()]
    assert ["TrendVault", "12.50", "6.25", "6.25", "0", "-", "-", "1", *["7"] * 6, "0"] in rows
    assert ["a", "row", "1,234", "-"] in rows


def bar_widths(series: ElementTree.Element) -> list[float]:
    bars = series.iterfind(".//{*}rect[@class='rect reactive tooltip-trigger']")
    return sorted((float(bar.get("width", 0)) for bar in bars), reverse=True)


def test_the_bars_of_the_chart_are_as_long_as_the_figures_and_those_too_long_are_cut() -> None:
    svg = draw_costs(plain_result(TrendVault=[10], nginx=[8], Go=[100])).decode()
    series = ElementTree.fromstring(svg).iterfind(".//{*}g[@class='bars']")
    by_series = [bar_widths(one) for one in series]
    assert len(by_series) == 2  # user and system time
    scale = by_series[0][0] / 11
    assert by_series[0] == pytest.approx([11 * scale, 5 * scale, 4 * scale], rel=0.01)
    assert by_series[1] == pytest.approx([5 * scale, 4 * scale, 0], rel=0.01)
    assert "5.0 + 5.0  (1.25 × nginx)<" in svg
    assert "50 + 50  (12 × nginx), cut<" in svg
    assert "prefers-color-scheme:dark" in svg.replace(": ", ":")
    assert "A &lt;CPU&gt; &amp; more" in svg
    assert "<script" not in svg


def test_the_result_is_kept_as_json_with_its_goals(tmp_path: Path) -> None:
    write_json(plain_result(TrendVault=[10], nginx=[10], Bun=[100]), tmp_path / "new/result.json")
    kept = json.loads((tmp_path / "new/result.json").read_text())
    assert {goal["unit"]: goal["verdict"] for goal in kept["scenarios"][0]["goals"]}["x nginx"] == "met"
    assert kept["scenarios"][0]["rows"][0][0] == "TrendVault"
    assert kept.keys() == json.loads((PUBLISHED / "result.json").read_text()).keys()


def test_a_video_that_is_observed_once_more_is_still_the_same(tmp_path: Path) -> None:
    read = []
    for observed_at in (1_800_000_000, 1_800_000_060):
        write_observations(tmp_path / "lines", 600, observed_at)
        lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
        assert len({line.pop("observed_at") for line in lines}) == 1
        read.append(lines)
    assert read[0] == read[1]
