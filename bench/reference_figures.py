"""Figures that others quote for this kind of service, printed beside ours.

They come without a method: 64 connections on a machine of 4 virtual CPUs, all of its cores together. Ours are
of one core, so requests per second of the two cannot be compared directly.
"""

from dataclasses import dataclass

SOURCE = "as commonly quoted for this kind of service; 64 connections, 4 vCPU; method unknown"


@dataclass(frozen=True)
class ReferenceFigures:
    name: str
    per_second: int | None = None
    p99_ms: float | None = None
    start_ms: float | None = None
    rss_mb: float | None = None


REFERENCE_FIGURES = (
    ReferenceFigures("Bun", 58_200, 2.3, 38, 71),
    ReferenceFigures("Node", 41_900, 4.1, 112, 96),
    ReferenceFigures("Go", 73_000, 1.4, None, 28),
    ReferenceFigures("PHP", 24_000, 6),  # under LiteSpeed
)
