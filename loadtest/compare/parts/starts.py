from loadtest.compare.bench import Bench
from loadtest.compare.progress import say
from loadtest.compare.running import running
from loadtest.compare.section import Goal, Section
from loadtest.compare.summary import figure
from loadtest.compare.targets import ORIGIN

_MOST_MS = 40


def measure_starts(bench: Bench, times: int) -> Section:
    """From starting the process to the last byte of the first 200, with 50,000 videos."""
    section = Section("start", "process start to first answer", ("ms", "+- %"))
    for target in bench.targets:
        say(f"starting {target.name} {times} times")
        found = figure([_start(bench, target.name) for _ in range(times)])
        section.rows.append((target.name, (found.median, found.spread_percent)))
        if target.name == ORIGIN:
            section.goals.append(Goal("process start to first answer", found.median, _MOST_MS, "ms"))
    return section


def _start(bench: Bench, name: str) -> float:
    with running(bench.target(name), bench.setting, bench.cores.server) as server:
        return server.start_ms
