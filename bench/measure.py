"""One measurement: what a server used for the requests that wrk counted."""

import time
from dataclasses import dataclass

from bench.processes import cpu_seconds, rss_mb
from bench.running import Running
from bench.scenarios import NotMeasured, Scenario
from bench.wrk import Load, drive


@dataclass(frozen=True)
class Sample:
    """CPU is user and system time of all processes of the server, per request."""

    cpu_us: float
    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    rss_mb: float
    errors: float
    requests: float


def measure(server: Running, load: Load, seconds: int, cores: frozenset[int]) -> tuple[Sample, float]:
    """A sample, and the bytes of an answer on average."""
    before = cpu_seconds(server.sessions)
    figures = drive(server.url, load, seconds, cores)
    used = cpu_seconds(server.sessions) - before
    requests = max(figures.requests, 1)
    sample = Sample(
        cpu_us=used / requests * 1e6,
        per_second=figures.per_second,
        p50_ms=figures.p50_ms,
        p95_ms=figures.p95_ms,
        p99_ms=figures.p99_ms,
        max_ms=figures.max_ms,
        rss_mb=rss_mb(server.sessions),
        errors=figures.errors,
        requests=figures.requests,
    )
    return sample, figures.bytes / requests


def measure_scenario(scenario: Scenario, server: Running, seconds: int, cores: frozenset[int]) -> Sample:
    """Raises NotMeasured when the answers were not those that the scenario is about."""
    if scenario.most_bytes is not None:
        wait_for_room_in_minute(seconds)
    sample, bytes_each = measure(server, scenario.load(server), seconds, cores)
    if scenario.most_bytes is not None and bytes_each > scenario.most_bytes:
        raise NotMeasured(f"{server.target.name}, {scenario.title}: {bytes_each:.0f} bytes an answer")
    return sample


def wait_for_room_in_minute(seconds: int) -> None:
    """Tokens change with the minute, and entity tags with them: a run of 304s has to end before."""
    left = 60 - time.time() % 60
    if left < seconds + 1.5:
        time.sleep(left + 0.3)
