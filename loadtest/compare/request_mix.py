"""A Zipf mix of requests: the same on every run, so that runs can be compared."""

import random
from itertools import product
from pathlib import Path

from loadtest.contract import DEFAULT_LIMIT, LARGEST_LIMIT, REGIONS
from loadtest.popularity import WINDOW_WEIGHTS, zipf_weights
from loadtest.responses import PageRequest

# Percent of the requests.
_LIMITS = {DEFAULT_LIMIT: 70, DEFAULT_LIMIT // 2: 15, LARGEST_LIMIT: 10, 10: 5}
_ENCODINGS = {"br, gzip": 75, "gzip": 15, "identity": 10}
_LENGTH = 5000


def mix_targets() -> list[str]:
    """Every target that the mix can name."""
    return [PageRequest(*page).target for page in product(REGIONS, WINDOW_WEIGHTS, _LIMITS)]


def write_mix(file: Path) -> None:
    """Writes the lines that wrk.lua reads."""
    rng = random.Random(20_261_120)
    regions = rng.choices(REGIONS, zipf_weights(len(REGIONS)), k=_LENGTH)
    windows = rng.choices(list(WINDOW_WEIGHTS), list(WINDOW_WEIGHTS.values()), k=_LENGTH)
    limits = rng.choices(list(_LIMITS), list(_LIMITS.values()), k=_LENGTH)
    encodings = rng.choices(list(_ENCODINGS), list(_ENCODINGS.values()), k=_LENGTH)
    rows = zip(regions, windows, limits, encodings, strict=True)
    file.write_text("".join(f"{PageRequest(r, w, n).target}\t{encoding}\n" for r, w, n, encoding in rows))
