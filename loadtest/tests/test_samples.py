from collections import Counter

import pytest
from locust.stats import RequestStats

from loadtest.samples import ExtraStats, Sample, StepRecorder, find_capacity
from loadtest.summary import describe_capacity

LEVELS = {"p99_ms": 100.0}


def climb(*milliseconds: float) -> list[Sample]:
    """A step each; the n-th lasts a second, has n * 100 requests, and all of them take as long."""
    return [
        Sample(1, n * 10, n * 100, 0, Counter({time: n * 100}), None, Counter(), 0)
        for n, time in enumerate(milliseconds, 1)
    ]


@pytest.mark.parametrize(
    ("milliseconds", "held", "broke"), [((1, 5, 300, 2), 20, 30), ((1, 5), 20, None), ((300, 1), None, 10)]
)
def test_the_capacity_is_the_last_step_before_the_first_that_broke(
    milliseconds: tuple[float, ...], held: int | None, broke: int | None
) -> None:
    assert [step and step.users for step in find_capacity(climb(*milliseconds), LEVELS)] == [held, broke]


def test_the_verdict_names_both_rates_and_what_broke() -> None:
    text = describe_capacity(climb(1, 5, 300), LEVELS)
    assert text == "it holds at 200 requests a second and breaks at 300: p99 300.00 ms (at most 100 ms)."


def test_the_verdict_says_what_to_do_when_the_first_step_breaks_or_none() -> None:
    assert "start lower with --users" in describe_capacity(climb(300, 1), LEVELS)
    assert "--users takes it further" in describe_capacity(climb(1, 5), LEVELS)


def test_where_the_load_generator_was_late_the_verdict_says_that_it_may_hold_more() -> None:
    held, broke = climb(1, 300)
    assert "it may hold more" in describe_capacity([held, broke._replace(delayed_requests=100)], LEVELS)


def test_a_step_is_measured_without_the_seconds_in_which_it_settled() -> None:
    def take_sample() -> Sample:
        """Slow requests in the first two seconds of each step of six."""
        slow = sum(second % 6 < 2 for second in range(now))
        times = Counter({500.0: 10 * slow, 1.0: 10 * (now - slow)})
        return Sample(now, 7, 10 * now, 0, times, None, Counter(), 0)

    recorder = StepRecorder()
    for now in range(19):
        recorder.tick(now // 6 if now < 18 else None, now, take_sample)
    assert [(step.seconds, step.requests, step.response_times) for step in recorder.steps] == [
        (4, 40, {1.0: 40})
    ] * 3


def test_a_sample_is_what_locust_counted_and_what_it_does_not_count() -> None:
    stats, extra = RequestStats(), ExtraStats()
    extra.merge(ExtraStats(7.5, Counter(hit=1)))
    before = Sample.take(stats, extra, 0)
    for milliseconds in (1, 20, 300):
        stats.log_request("GET", "/", milliseconds, 0)
    stats.log_error("GET", "/", "wrong region")
    for other in (ExtraStats(40.0, Counter(hit=2, miss=2), 1), ExtraStats(5.0)):
        extra.merge(other)
    sample = Sample.take(stats, extra, 5).since(before)
    assert (sample.users, sample.requests, sample.failures) == (5, 3, 1)
    assert (sample.percentile_ms(50), sample.percentile_ms(99)) == (20, 300)
    assert (sample.oldest_seconds, round(sample.delayed_percent)) == (40, 33)
    assert sample.cache_outcomes == {"hit": 2, "miss": 2}
