"""What a server used for the requests that wrk counted: the cells of a table, and ratios of servers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

# By column, with "requests" and "bytes" in all. CPU is user and system time of all processes of the server,
# per request; RSS is of all processes together.
Measurement = Mapping[str, float]

COLUMNS = (
    "CPU us",
    "user us",
    "system us",
    "req/s",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "max ms",
    "RSS MB",
    "errors",
)


@dataclass(frozen=True)
class Rounds:
    count: int
    seconds: int  # of load, each
    quick_seconds: int = 1  # the most with --quick

    def shortened(self, *, quick: bool) -> "Rounds":
        return Rounds(min(self.count, 3), min(self.seconds, self.quick_seconds)) if quick else self


def cells(measurement: Measurement) -> tuple[float, ...]:
    return tuple(measurement[column] for column in COLUMNS)


def with_median_p99(measured: Sequence[Measurement]) -> Measurement:
    return sorted(measured, key=lambda one: one["p99 ms"])[len(measured) // 2]


def spread_percent(values: Sequence[float]) -> float:
    """Half the distance between the extremes, of the median."""
    return 50 * (max(values) - min(values)) / (median(values) or 1)


def ratio(column: str, measured: Sequence[Measurement], references: Sequence[Measurement]) -> float | None:
    """The median of the ratios within each round, since the machine's other work slows both. None when one of
    the two was not measured. A round in which the reference took no measurable time counts for nothing."""
    if not measured or not references:
        return None
    rounds = zip(measured, references, strict=True)
    ratios = [one[column] / reference[column] for one, reference in rounds if reference[column] > 0]
    return median(ratios) if ratios else None
