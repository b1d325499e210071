from bench.environment import BenchEnvironment
from bench.result import ScenarioResult
from bench.servers import ORIGIN
from bench.wrk import Load
from loadtest.goal import Goal

_REQUESTS = 1_000_000
_MOST_MB = 60


def measure_memory(bench: BenchEnvironment, _rounds: int, seconds: int) -> ScenarioResult:
    """The memory of the largest process, read every `seconds` while the mix is requested a million times."""
    result = ScenarioResult("memory", ("requests", "RSS MB"))
    requests: float = 0
    with bench.started(ORIGIN) as server:
        result.rows.append((ORIGIN, (requests, max(server.rss_mb()))))
        while requests < _REQUESTS:
            requests += bench.measure(server, Load(mix=bench.mix), seconds)["requests"]
            result.rows.append((ORIGIN, (requests, max(server.rss_mb()))))
    final = result.rows[-1][1][1]
    result.goals.append(Goal("memory of a worker after a million requests", final, _MOST_MB, "MB"))
    return result
