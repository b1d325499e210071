"""Which markets are asked for how often."""

import json
import random
from pathlib import Path

_REGIONS = Path(__file__).parent.parent / "db" / "regions.json"

CODES: tuple[str, ...] = tuple(region["code"] for region in json.loads(_REGIONS.read_text()))

# During a spike this share of the visitors comes for the one market; the others keep their usual mix.
VIRAL_SHARE = 0.95


def zipf_weights(count: int, exponent: float = 1.0) -> list[float]:
    """The n-th most asked for has 1/n^exponent of the first one's requests; the weights add up to 1."""
    raw = [1 / rank**exponent for rank in range(1, count + 1)]
    return [weight / sum(raw) for weight in raw]


class MarketMix:
    """Draws markets: a Zipf mix in the order of db/regions.json, or mostly `viral_market` while it is one."""

    def __init__(self, dice: random.Random, viral_market: str) -> None:
        self._dice = dice
        self._weights = zipf_weights(len(CODES))
        self._viral_market = viral_market

    def draw(self, *, viral: bool) -> str:
        if viral and self._dice.random() < VIRAL_SHARE:
            return self._viral_market
        return self._dice.choices(CODES, self._weights)[0]
