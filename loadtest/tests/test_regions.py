import random
from collections import Counter

import pytest

from loadtest.contract import REGIONS
from loadtest.regions import RegionMix, zipf_weights


def draws(*, viral: bool) -> Counter[str]:
    mix = RegionMix(random.Random(3), viral_region="DE")
    return Counter(mix.draw(viral=viral) for _ in range(20_000))


def test_zipf_weights_add_up_and_fall_with_the_rank() -> None:
    weights = zipf_weights(14)
    assert sum(weights) == pytest.approx(1)
    assert weights[0] / weights[1] == pytest.approx(2)
    assert weights[0] / weights[13] == pytest.approx(14)


def test_every_region_is_requested_the_first_most() -> None:
    drawn = draws(viral=False)
    assert set(drawn) == set(REGIONS)
    assert drawn.most_common(1)[0][0] == REGIONS[0]


def test_in_a_spike_nearly_all_request_the_one_region() -> None:
    drawn = draws(viral=True)
    assert drawn["DE"] / drawn.total() > 0.94
    assert len(drawn) > 5
