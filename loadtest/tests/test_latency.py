import random

import pytest

from loadtest.latency import Latencies


def latencies(*milliseconds: float) -> Latencies:
    made = Latencies()
    for value in milliseconds:
        made.add(value)
    return made


@pytest.mark.parametrize("percent", [50, 90, 95, 99, 99.9])
def test_a_percentile_is_never_too_low_and_at_most_two_percent_too_high(percent: float) -> None:
    dice = random.Random(7)
    values = sorted(dice.lognormvariate(1, 2) for _ in range(20_000))
    exact = values[-(-int(len(values) * percent) // 100) - 1]
    measured = latencies(*values).percentile(percent)
    assert measured is not None
    assert exact <= measured <= exact * 1.02


def test_without_requests_there_is_no_percentile() -> None:
    assert Latencies().percentile(99) is None


def test_one_request_is_every_percentile() -> None:
    one = latencies(12.5)
    assert one.percentile(1) == one.percentile(50) == one.percentile(100) == 12.5


def test_the_hundredth_percentile_is_the_exact_maximum() -> None:
    assert latencies(1, 2, 3333.3).percentile(100) == 3333.3


def test_the_median_of_three_is_the_second() -> None:
    assert latencies(1, 20, 300).percentile(50) == pytest.approx(20, rel=0.02)


def test_the_slowest_of_a_hundred_is_not_yet_in_p99() -> None:
    assert (latencies(*[1.0] * 99, 5000).percentile(99) or 0) <= 1.02


def test_parts_add_up_to_the_whole_also_through_json() -> None:
    whole = latencies(*range(1, 2001))
    part = latencies(*range(1, 1001))
    part.merge(Latencies.from_json(latencies(*range(1001, 2001)).to_json()))
    assert part.to_json() == whole.to_json()
    assert part.count == 2000
