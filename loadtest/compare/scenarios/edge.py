from statistics import median

from loadtest.compare.environment import BenchEnvironment
from loadtest.compare.measurement import Rounds, spread_percent
from loadtest.compare.result import ScenarioResult
from loadtest.compare.servers import ROOT
from loadtest.compare.tools import read_figures
from loadtest.goal import Goal

_MOST_US = 500


def measure_edge(_bench: BenchEnvironment, rounds: Rounds) -> ScenarioResult:
    """Processor time that workerd uses per cache hit, with an origin and a client of its own."""
    quiet = ["env", "WRANGLER_LOG=error"]  # else its notes are printed before the figures
    command = [*quiet, "node", str(ROOT / "edge-worker/bench/hit-cost.ts")]
    printed = [read_figures(command, "the packages of bin/setup") for _ in range(rounds.count)]
    costs = [one["processor_microseconds_per_hit"] for one in printed]
    result = ScenarioResult("edge", ("CPU us", "+- %"), [("workerd", (median(costs), spread_percent(costs)))])
    result.goals.append(Goal("CPU of a cache hit at the edge", median(costs), _MOST_US, "us"))
    return result
