"""What is asked of the targets, and of which."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.running import FIRST_TARGET, Running
from bench.single_request import get
from bench.targets import COPYING_FLOOR, FLOOR, ORIGIN
from bench.wrk import Load
from loadtest.answers import Asked
from loadtest.markets import CODES, zipf_weights

PACKED = {"Accept-Encoding": "br, gzip"}
_PEERS = ("Bun", "Go", "Node", "PHP")
_WINDOWS, _WINDOW_WEIGHTS = ("day", "now", "week"), (80, 15, 5)
_LIMITS, _LIMIT_WEIGHTS = (24, 12, 50, 10), (70, 15, 10, 5)
_ENCODINGS, _ENCODING_WEIGHTS = ("br, gzip", "gzip", "identity"), (75, 15, 10)
_MIX_LENGTH = 5000
_LARGEST_304_BYTES = 1500


class NotMeasured(RuntimeError):
    """The load did not meet what it was meant for. The message says what it met."""


@dataclass(frozen=True)
class Scenario:
    name: str
    title: str
    targets: tuple[str, ...]
    load: Callable[[Running], Load]
    most_bytes: int | None = None  # of an answer, where more means that something else was answered


def default_page(_: Running) -> Load:
    return Load(FIRST_TARGET)


def packed_page(_: Running) -> Load:
    return Load(FIRST_TARGET, PACKED)


def unchanged_page(server: Running) -> Load:
    etag = get(server.url + FIRST_TARGET, PACKED).headers["etag"]
    return Load(FIRST_TARGET, {**PACKED, "If-None-Match": etag})


def common_scenarios(mix: Path, *, with_copying_floor: bool) -> list[Scenario]:
    def mixed(_: Running) -> Load:
        return Load(mix=mix)

    ours: tuple[str, ...] = (ORIGIN, FLOOR, COPYING_FLOOR) if with_copying_floor else (ORIGIN, FLOOR)
    return [
        Scenario("plain", "default page, plain", (*ours, *_PEERS), default_page),
        Scenario("compressed", "default page, br (nginx: gzip)", ours, packed_page),
        Scenario("unchanged", "default page, 304", ours, unchanged_page, _LARGEST_304_BYTES),
        Scenario("mix", "Zipf mix: 14 markets, 3 windows, 4 limits, 3 encodings", ours, mixed),
    ]


def mix_targets() -> list[str]:
    """Every target that the mix can name."""
    return [
        Asked(region, window, limit).target for region in CODES for window in _WINDOWS for limit in _LIMITS
    ]


def write_mix(file: Path) -> None:
    """Lines for wrk.lua: the same on every run, so that runs can be compared."""
    dice = random.Random(20_261_120)
    regions = dice.choices(CODES, zipf_weights(len(CODES)), k=_MIX_LENGTH)
    windows = dice.choices(_WINDOWS, _WINDOW_WEIGHTS, k=_MIX_LENGTH)
    limits = dice.choices(_LIMITS, _LIMIT_WEIGHTS, k=_MIX_LENGTH)
    encodings = dice.choices(_ENCODINGS, _ENCODING_WEIGHTS, k=_MIX_LENGTH)
    rows = zip(regions, windows, limits, encodings, strict=True)
    file.write_text("".join(f"{Asked(r, w, n).target}\t{encoding}\n" for r, w, n, encoding in rows))
