"""What reads a store: a follower, and the edge without an origin. Both programs are TypeScript, beside the
tests whose parts they use.
"""

from statistics import median

from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.measurement import Rounds, spread_percent
from loadtest.compare.result import ScenarioResult
from loadtest.compare.servers import ROOT
from loadtest.compare.tools import read_figures, run_tool
from loadtest.goal import Goal

_MOST_LAG_SECONDS = 3
_MOST_START_SECONDS = 10


def measure_follower(bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """From the writer's commit until an origin on a follower's file answers with the generation."""
    run_tool([str(ROOT / "tools/setup/versitygw.sh")], "Go, which builds the S3 server")
    command = ["bun", str(ROOT / "tests/store/bench/follower-lag.ts"), str(bench.database), str(rounds.count)]
    printed = read_figures(command, "the packages of bin/setup")
    lags = printed["lag_seconds"]
    result = ScenarioResult("follower", ("s", "slowest s", "+- %"))
    result.rows = [
        ("commit to visible", (median(lags), max(lags), spread_percent(lags))),
        ("start from nothing", (printed["start_seconds"], None, None)),
    ]
    result.goals = [
        Goal("commit to visible on a follower, median", median(lags), _MOST_LAG_SECONDS, "s"),
        Goal("start of a follower from nothing", printed["start_seconds"], _MOST_START_SECONDS, "s"),
    ]
    result.notes = ["The writer runs in cron's way and renders no bundle; the follower looks each second."]
    return result


def measure_originless(_bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """One data centre; a generation is published each minute. `rounds` are minutes."""
    command = ["node", str(ROOT / "edge-worker/bench/originless-cost.ts"), str(rounds.count)]
    printed = read_figures(command, "the packages of bin/setup")
    pointers, parts = printed["pointer_reads_per_minute"], printed["bundle_reads_per_minute"]
    per_10_000 = (pointers + parts) / printed["requests_per_minute"] * 10_000
    header = ("CPU us", "pointer reads/min", "bundle reads/min", "reads per 10,000")
    result = ScenarioResult("originless", header)
    result.rows = [("workerd", (printed["processor_microseconds_per_hit"], pointers, parts, per_10_000))]
    result.notes = [
        "CPU is of a request that is mostly a hit, with the client and the local bucket in the same workerd;",
        "reads are of one isolate, which shares what it has read with its data centre.",
    ]
    return result
