"""The columns of a single measurement."""

from collections.abc import Sequence

from bench.measure import Sample

SHORT_HEADER = ("CPU us", "req/s", "p50 ms", "p99 ms", "max ms", "RSS MB", "errors")


def short_row(sample: Sample) -> tuple[float, ...]:
    times = (sample.p50_ms, sample.p99_ms, sample.max_ms)
    return (sample.cpu_us, sample.per_second, *times, sample.rss_mb, sample.errors)


def middle(samples: Sequence[Sample]) -> Sample:
    """The one with the median p99."""
    return sorted(samples, key=lambda sample: sample.p99_ms)[len(samples) // 2]
