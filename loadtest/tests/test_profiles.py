import itertools
import random
from collections import Counter

import pytest

from loadtest import profiles
from loadtest.contract import REGIONS, VIRAL_REGION, WINDOW_WEIGHTS, WINDOWS, draw_region, zipf_weights
from loadtest.profiles import PROFILES

MOMENTS = [moment / 200 for moment in range(201)]


@pytest.mark.parametrize("name", PROFILES)
def test_a_shape_stays_between_nobody_and_the_peak_and_reaches_it(name: str) -> None:
    shares = [PROFILES[name].shape(moment, 120) for moment in MOMENTS]
    assert min(shares) >= 0
    assert max(shares) == pytest.approx(1, abs=0.01)


def test_an_evening_has_its_peak_at_prime_time_and_ends_quieter() -> None:
    shares = [profiles.evening(moment, 120) for moment in MOMENTS]
    assert MOMENTS[shares.index(max(shares))] == pytest.approx(0.6, abs=0.02)
    assert shares[0] < 0.35
    assert shares[-1] < 0.4


@pytest.mark.parametrize("seconds", [20, 600])
def test_a_viral_spike_is_twenty_times_the_usual_within_three_seconds_and_subsides(seconds: float) -> None:
    before = profiles.viral(profiles.VIRAL_START - 0.001, seconds)
    assert profiles.viral(profiles.VIRAL_START + 3 / seconds, seconds) / before == pytest.approx(20)
    assert profiles.viral(1, seconds) < 0.15


def test_a_stampede_is_everybody_from_the_first_moment() -> None:
    assert profiles.stampede(0, 30) == 1


@pytest.mark.parametrize(("seconds", "count"), [(5, 2), (60, 10), (120, 16), (3600, 16)])
def test_the_limits_rise_by_one_factor_from_a_64th_to_the_peak(seconds: float, count: int) -> None:
    assert profiles.step_count(seconds) == count
    steps = [profiles.limits((step + 0.5) / count, seconds) for step in range(count)]
    assert [steps[0], steps[-1]] == pytest.approx([1 / 64, 1])
    assert len({round(above / below, 6) for below, above in itertools.pairwise(steps)}) == 1


def test_zipf_weights_add_up_and_fall_with_the_rank() -> None:
    weights = zipf_weights(14)
    assert sum(weights) == pytest.approx(1)
    assert [weights[0] / weights[1], weights[0] / weights[13]] == pytest.approx([2, 14])


def test_every_window_of_the_contract_has_a_weight() -> None:
    assert set(WINDOW_WEIGHTS) == set(WINDOWS)
    assert sum(WINDOW_WEIGHTS.values()) == pytest.approx(100)


def test_every_region_is_drawn_the_first_most_and_in_a_spike_nearly_always_one() -> None:
    rng = random.Random(3)
    usual, spike = (Counter(draw_region(rng, viral=viral) for _ in range(20_000)) for viral in (False, True))
    assert set(usual) == set(REGIONS)
    assert usual.most_common(1)[0][0] == REGIONS[0]
    assert spike[VIRAL_REGION] / spike.total() > 0.94
    assert len(spike) > 5
