"""How often each region is requested."""

import random

from loadtest.contract import REGIONS

# During a spike this share of the visitors requests the one region; the others keep their usual mix.
VIRAL_SHARE = 0.95


def zipf_weights(count: int, exponent: float = 1.0) -> list[float]:
    """Zipf's law: the n-th has 1/n^exponent of the first one's weight, and they add up to 1."""
    raw = [1 / rank**exponent for rank in range(1, count + 1)]
    return [weight / sum(raw) for weight in raw]


class RegionMix:
    """Draws regions: a Zipf mix in the contract's order, or mostly `viral_region` during a spike."""

    def __init__(self, rng: random.Random, viral_region: str) -> None:
        self._rng = rng
        self._weights = zipf_weights(len(REGIONS))
        self._viral_region = viral_region

    def draw(self, *, viral: bool) -> str:
        if viral and self._rng.random() < VIRAL_SHARE:
            return self._viral_region
        return self._rng.choices(REGIONS, self._weights)[0]
