import itertools

import pytest

from loadtest import shapes
from loadtest.profiles import PROFILES

MOMENTS = [moment / 200 for moment in range(201)]


@pytest.mark.parametrize("name", PROFILES)
def test_a_shape_stays_between_nobody_and_the_peak_and_reaches_it(name: str) -> None:
    shares = [PROFILES[name].shape(moment, 120) for moment in MOMENTS]
    assert min(shares) >= 0
    assert max(shares) == pytest.approx(1, abs=0.01)


def test_an_evening_has_its_peak_at_prime_time_and_ends_quieter() -> None:
    shares = [shapes.evening(moment, 120) for moment in MOMENTS]
    assert MOMENTS[shares.index(max(shares))] == pytest.approx(0.6, abs=0.02)
    assert shares[0] < 0.35
    assert shares[-1] < 0.4


def test_a_viral_spike_is_twenty_times_the_usual_within_three_seconds_whatever_the_length() -> None:
    for seconds in (20, 600):
        before = shapes.viral(shapes.VIRAL_START - 0.001, seconds)
        after = shapes.viral(shapes.VIRAL_START + 3 / seconds, seconds)
        assert after / before == pytest.approx(20)


def test_a_spike_subsides() -> None:
    assert shapes.viral(1, 60) < 0.15


def test_a_stampede_is_everybody_from_the_first_moment() -> None:
    assert shapes.stampede(0, 30) == 1


def test_the_limits_rise_by_one_factor_from_a_64th_to_the_peak() -> None:
    count = shapes.step_count(60)
    steps = [shapes.limits((step + 0.5) / count, 60) for step in range(count)]
    factors = {round(above / below, 6) for below, above in itertools.pairwise(steps)}
    assert steps[0] == pytest.approx(1 / 64)
    assert steps[-1] == 1
    assert len(factors) == 1


@pytest.mark.parametrize(("seconds", "count"), [(5, 2), (60, 10), (120, 16), (3600, 16)])
def test_a_step_lasts_at_least_six_seconds_where_the_run_is_long_enough(seconds: float, count: int) -> None:
    assert shapes.step_count(seconds) == count
