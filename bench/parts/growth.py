from dataclasses import replace

from bench import databases
from bench.bench import Bench
from bench.measure import Sample, measure
from bench.progress import say
from bench.section import Goal, Section
from bench.short_table import SHORT_HEADER, short_row
from bench.targets import ORIGIN
from bench.wrk import Load

_SIZES = (5_000, 50_000, 500_000)
_FLAT = 1.1


def measure_growth(bench: Bench, seconds: int) -> Section:
    """Does a request cost more when there are more videos?"""
    section = Section("growth", "default page, by videos in the database", SHORT_HEADER)
    costs: dict[str, list[float]] = {}
    for size in _SIZES:
        for name, sample in _measure_size(bench, size, seconds).items():
            section.rows.append((f"{name}, {size:,} videos", short_row(sample)))
            costs.setdefault(name, []).append(sample.cpu_us)
    growth = costs[ORIGIN][-1] / costs[ORIGIN][0]
    section.goals.append(Goal(f"CPU with {_SIZES[-1]:,} videos", growth, _FLAT, f"x with {_SIZES[0]:,}"))
    return section


def _measure_size(bench: Bench, size: int, seconds: int) -> dict[str, Sample]:
    say(f"database: {size:,} videos")
    database = bench.setting.folder / f"{size}.db"
    databases.make(database, size)
    sized = replace(bench, setting=replace(bench.setting, database=database))
    samples = {}
    for name in sized.names(ORIGIN, "Bun"):
        say(f"{size:,} videos: {name}")
        with sized.started(name, warm=True) as server:
            samples[name], _ = measure(server, Load(), seconds, bench.cores.driver)
    return samples
