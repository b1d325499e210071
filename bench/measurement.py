"""What a server used for the requests that wrk counted, and how measurements become the cells of a table."""

from collections.abc import Mapping, Sequence
from statistics import median

from bench.progress import progress
from bench.running_server import RunningServer
from bench.wrk import Load, drive

# By column, with "requests" and "bytes" in all. CPU is user and system time of all processes of the server,
# per request; RSS is of all processes together.
Measurement = Mapping[str, float]

COLUMNS = ("CPU us", "req/s", "p50 ms", "p95 ms", "p99 ms", "max ms", "RSS MB", "errors")


def measure(server: RunningServer, load: Load, seconds: int, cores: frozenset[int]) -> Measurement:
    before = server.cpu_seconds()
    counted = drive(server.url, load, seconds, cores)
    cpu_us = (server.cpu_seconds() - before) / counted["requests"] * 1e6
    progress.log(f"{server.server.name}: {cpu_us:.1f} us per request, p99 {counted['p99 ms']:.1f} ms")
    return {**counted, "CPU us": cpu_us, "RSS MB": sum(server.rss_mb())}


def cells(measurement: Measurement) -> tuple[float, ...]:
    return tuple(measurement[column] for column in COLUMNS)


def with_median_p99(measured: Sequence[Measurement]) -> Measurement:
    return sorted(measured, key=lambda one: one["p99 ms"])[len(measured) // 2]


def spread_percent(values: Sequence[float]) -> float:
    """Half the distance between the extremes, of the median."""
    return 50 * (max(values) - min(values)) / (median(values) or 1)


def ratio(column: str, measured: Sequence[Measurement], references: Sequence[Measurement]) -> float | None:
    """The median of the ratios within each round, since the machine's other work slows both. None when one of
    the two was not measured."""
    if not measured or not references:
        return None
    return median(
        one[column] / reference[column] for one, reference in zip(measured, references, strict=True)
    )
