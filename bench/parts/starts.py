from bench.bench import Bench
from bench.progress import say
from bench.running import running
from bench.section import Goal, Section
from bench.summary import figure
from bench.targets import ORIGIN

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
