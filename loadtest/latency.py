"""Response times in buckets, so that runs of any length and several processes add up exactly."""

import math
from collections import Counter
from collections.abc import Iterable

_RATIO = 1.02  # of neighbouring bucket bounds: a percentile is at most 2 % too high
_SMALLEST_MS = 0.01


class Latencies:
    """A histogram of milliseconds. Percentiles are never too low, and at most 2 % too high."""

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()
        self.count = 0
        self.max_ms = 0.0

    def add(self, milliseconds: float) -> None:
        self._buckets[_bucket(milliseconds)] += 1
        self.count += 1
        self.max_ms = max(self.max_ms, milliseconds)

    def merge(self, other: "Latencies") -> None:
        self._buckets.update(other._buckets)
        self.count += other.count
        self.max_ms = max(self.max_ms, other.max_ms)

    def percentile(self, percent: float) -> float | None:
        """The time that `percent` of the requests did not exceed (nearest rank), None without requests."""
        rank = math.ceil(self.count * percent / 100)
        passed = 0
        for bucket in sorted(self._buckets):
            passed += self._buckets[bucket]
            if passed >= rank:
                return min(_upper_bound_ms(bucket), self.max_ms)
        return None

    def to_json(self) -> dict[str, object]:
        return {"buckets": sorted(self._buckets.items()), "max_ms": self.max_ms}

    @classmethod
    def from_json(cls, data: dict[str, object]) -> "Latencies":
        latencies = cls()
        buckets = data["buckets"]
        assert isinstance(buckets, Iterable)
        latencies._buckets.update({int(bucket): int(count) for bucket, count in buckets})
        latencies.count = latencies._buckets.total()
        latencies.max_ms = float(str(data["max_ms"]))
        return latencies


def _bucket(milliseconds: float) -> int:
    return math.ceil(math.log(max(milliseconds, _SMALLEST_MS) / _SMALLEST_MS, _RATIO))


def _upper_bound_ms(bucket: int) -> float:
    return float(_SMALLEST_MS * _RATIO**bucket)
