import json
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from bench import nginx
from bench.chart import draw
from bench.cores import divide_cores, on_cores
from bench.measure import Sample
from bench.processes import Session, cpu_seconds, rss_mb
from bench.result import Result, write_json
from bench.same_answers import find_difference
from bench.scenario_section import describe_scenario
from bench.scenarios import common_scenarios, mix_targets, write_mix
from bench.section import Goal, Section
from bench.summary import cpu_ratio, figure
from bench.table import describe, describe_section
from bench.wrk import WrkFailed, parse

_TWO_BUSY_PROCESSES = """
import os, time
os.fork()
for _ in range(3_000_000): pass
print("done", flush=True)
time.sleep(60)
"""


def sample(cpu_us: float, *, errors: float = 0) -> Sample:
    return Sample(cpu_us, 1000, 1, 2, 3, 4, 50, errors, 10_000)


def plain_result(**costs: list[float]) -> Result:
    rounds = {name: [sample(cost) for cost in values] for name, values in costs.items()}
    scenario = common_scenarios(Path("mix"), with_copying_floor=True)[0]
    machine = {"cpu": "A <CPU> & more"}
    return Result("full", 3, 3, machine, sections=[describe_scenario(scenario, rounds)])


def test_wrks_figures_are_read_in_milliseconds() -> None:
    line = (
        'figures {"requests":1000,"microseconds":2000000,"bytes":5,"errors":3,'
        '"p50":1500,"p95":2000,"p99":2500,"max":9000}'
    )
    read = parse(f"Running 2s test\n{line}\n")
    assert (read.per_second, read.errors, read.p50_ms, read.p99_ms, read.max_ms) == (500, 3, 1.5, 2.5, 9)


def test_wrk_without_figures_is_an_error_with_its_last_words() -> None:
    with pytest.raises(WrkFailed, match="unable to connect"):
        parse("unable to connect to 127.0.0.1:1")


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
    core = frozenset({min(os.sched_getaffinity(0))})
    with on_cores(core):
        session = Session(["python3", "-c", _TWO_BUSY_PROCESSES], os.environ, tmp_path / "log")
    try:
        while (tmp_path / "log").read_text().count("done") < 2:
            assert not session.has_ended, session.last_words()
        members = session.members()
        assert len(members) == 2
        assert all(os.sched_getaffinity(member.pid) == core for member in members)
        assert all(member.cpu_seconds > 0 for member in members)
        assert cpu_seconds([session]) >= sum(member.cpu_seconds for member in members)
        assert rss_mb([session]) > 5
    finally:
        session.stop()
    assert session.members() == []


def test_a_ratio_is_taken_within_each_round() -> None:
    rounds = {
        "TrendVault": [sample(10), sample(20), sample(30)],
        "nginx": [sample(10), sample(10), sample(30)],
    }
    ratio = cpu_ratio(rounds, "TrendVault", "nginx")
    assert ratio is not None
    assert (ratio.median, ratio.low, ratio.high) == (1, 1, 2)
    assert cpu_ratio(rounds, "TrendVault", "Go") is None


def test_the_spread_is_half_the_distance_of_the_extremes() -> None:
    assert figure([9, 10, 12]).spread_percent == 15


@pytest.mark.parametrize(
    ("theirs", "difference"),
    [
        ({"a": 1.0, "b": [1, 2]}, None),
        ({"a": 1, "b": [1, 3]}, "body.b[1] is 3 instead of 2"),
        ({"a": 1, "b": [1]}, "body.b has 1 entries instead of 2"),
        ({"b": [1, 2], "a": 1}, "body has other fields"),
        ({"a": None, "b": [1, 2]}, "body.a is None instead of 1"),
    ],
)
def test_two_answers_differ_where_it_says(theirs: object, difference: str | None) -> None:
    assert find_difference(theirs, {"a": 1, "b": [1, 2]}) == difference


def test_the_mix_is_the_same_every_time_and_names_only_pages_that_nginx_has(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_mix(tmp_path / name)
    text = (tmp_path / "one").read_text()
    assert text == (tmp_path / "two").read_text()
    asked = {line.partition("\t")[0] for line in text.splitlines()}
    assert asked <= set(mix_targets())
    assert len(asked) > 100


def test_nginx_serves_the_origins_header_fields_with_sendfile_and_without(tmp_path: Path) -> None:
    (tmp_path / "fields.json").write_text(json.dumps({"vary": "Accept-Encoding", "signature": 'a="b\\"'}))
    for port, sendfile, setting in ((81, True, "sendfile on;"), (82, False, "sendfile off;")):
        written = nginx.write_floor(tmp_path, port, workers=1, sendfile=sendfile).read_text()
        assert 'add_header signature "a=\\"b\\\\\\"";' in written
        assert setting in written


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


def test_a_missed_goal_a_missing_peer_and_a_warning_are_said() -> None:
    result = plain_result(TrendVault=[12, 12], nginx=[10, 10])
    result.missing = {"Go": "go is not there: install Go"}
    result.warnings = ["The machine was busy"]
    said = describe(result)
    assert "MISSED  CPU, default page, plain: 1.20 x nginx (at most 1.05)" in said
    assert "MISSED  CPU of a query and JSON per request in Bun: not measured" in said
    assert "missing: Go: go is not there" in said
    assert "warning: The machine was busy" in said


def test_a_table_has_a_cell_for_every_column() -> None:
    section = Section("x", "title", ("a", "b"), [("row", (1.0, None))])
    header, row = describe_section(section).splitlines()[1:]
    assert len(header) == len(row)
    assert row.split() == ["row", "1", "-"]


def test_the_chart_is_whole_and_its_bars_are_as_long_as_the_figures() -> None:
    svg = draw(plain_result(TrendVault=[10], nginx=[8], Go=[100]))
    root = ElementTree.fromstring(svg)
    bars = root.findall("{http://www.w3.org/2000/svg}rect")
    lengths = [float(bar.attrib["width"]) for bar in bars]
    assert lengths[1] / lengths[0] == pytest.approx(10 / 8, rel=0.01)
    assert lengths[2] / lengths[0] == pytest.approx(100 / 8, rel=0.01)
    assert "prefers-color-scheme: dark" in svg
    assert "A &lt;CPU&gt; &amp; more" in svg


def test_the_result_is_kept_as_json_with_its_goals(tmp_path: Path) -> None:
    write_json(plain_result(TrendVault=[10], nginx=[10], Bun=[100]), tmp_path / "new/result.json")
    kept = json.loads((tmp_path / "new/result.json").read_text())
    assert [goal["is_met"] for goal in kept["goals"]] == [True, True]
    assert kept["quoted"]["figures"][0]["per_second"] == 58_200
    assert kept["sections"][0]["rows"][0][0] == "TrendVault"
