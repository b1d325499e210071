"""From samples to figures: medians, how far they spread, and ratios within the same round."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from bench.measure import Sample

Rounds = Mapping[str, Sequence[Sample]]  # by target


@dataclass(frozen=True)
class Figure:
    median: float
    low: float
    high: float

    @property
    def spread_percent(self) -> float:
        """Half the distance between the extremes, of the median."""
        return 50 * (self.high - self.low) / self.median if self.median else 0.0


def figure(values: Sequence[float]) -> Figure:
    return Figure(median(values), min(values), max(values))


def figures(samples: Sequence[Sample]) -> dict[str, Figure]:
    """A figure for each field of the samples."""
    rows = [asdict(sample) for sample in samples]
    return {name: figure([row[name] for row in rows]) for name in rows[0]}


def cpu_ratio(rounds: Rounds, target: str, reference: str) -> Figure | None:
    """CPU per request, target / reference, of the same round, so that the machine's mood cancels out."""
    if not rounds.get(target) or not rounds.get(reference):
        return None
    pairs = zip(rounds[target], rounds[reference], strict=True)
    return figure([ours.cpu_us / theirs.cpu_us for ours, theirs in pairs])
