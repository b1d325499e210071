"""How often each region and each window is requested."""

import random

from loadtest.contract import REGIONS

VIRAL_REGION = REGIONS[:2][-1]
VIRAL_SHARE = 0.95  # of the visitors during a spike; the others keep their usual mix
WINDOW_WEIGHTS = {"day": 80, "now": 15, "week": 5}  # percent


def zipf_weights(count: int, exponent: float = 1.0) -> list[float]:
    """Zipf's law: the n-th has 1/n^exponent of the first one's weight, and they add up to 1."""
    raw = [1 / rank**exponent for rank in range(1, count + 1)]
    return [weight / sum(raw) for weight in raw]


_REGION_WEIGHTS = zipf_weights(len(REGIONS))


def draw_region(rng: random.Random, *, viral: bool) -> str:
    """Draws from a Zipf mix in the contract's order, or mostly `VIRAL_REGION` during a spike."""
    if viral and rng.random() < VIRAL_SHARE:
        return VIRAL_REGION
    return rng.choices(REGIONS, _REGION_WEIGHTS)[0]


def draw_window(rng: random.Random) -> str:
    return rng.choices(list(WINDOW_WEIGHTS), list(WINDOW_WEIGHTS.values()))[0]
