from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from locust.stats import RequestStats

from loadtest.levels import DEFAULT_FILE, LevelError, Levels, read_levels
from loadtest.profiles import PROFILES
from loadtest.samples import ExtraStats, Sample, StepRecorder, describe_capacity, find_capacity


def measured(*, failed: int = 0, age: float = 10, **cache: int) -> Sample:
    """A thousand requests: 980 of 5 ms, 20 of 300 ms."""
    return Sample(10, 1, 1000, failed, Counter({5.0: 980, 300.0: 20}), age, Counter(cache), 0)


def missed(sample: Sample, **levels: float) -> list[str]:
    return [goal.what for goal in sample.evaluate(levels) if not goal.is_met]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_has_every_level(profile: str) -> None:
    levels = read_levels(DEFAULT_FILE, profile)
    assert list(levels) == ["p50_ms", "p99_ms", "failed_percent", "staleness_seconds", "least_hit_percent"]


def test_a_profiles_table_wins_over_the_default_and_the_command_line_over_both(tmp_path: Path) -> None:
    file = tmp_path / "levels.toml"
    file.write_text(
        "[default]\np50_ms = 1\np99_ms = 2\nfailed_percent = 3\n[viral]\np99_ms = 20\nfailed_percent = 30"
    )
    levels = read_levels(file, "viral", ["failed_percent=300"])
    assert levels == {"p50_ms": 1, "p99_ms": 20, "failed_percent": 300}


@pytest.mark.parametrize("override", ["p98_ms=5", "p99_ms", "p99_ms=fast", "p99_ms=-1", "p99_ms=nan"])
def test_a_level_that_cannot_be_judged_is_refused_by_its_name(override: str) -> None:
    with pytest.raises(LevelError, match=override.partition("=")[0]):
        read_levels(DEFAULT_FILE, "steady", [override])


def test_a_missing_file_and_a_broken_one_are_named(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("p99_ms = ")
    for name in ("none.toml", "broken.toml"):
        with pytest.raises(LevelError, match=name):
            read_levels(tmp_path / name, "steady")


@pytest.mark.parametrize(
    ("sample", "levels", "expected"),
    [
        (measured(failed=1), {"failed_percent": 0.1}, []),
        (measured(failed=2), {"failed_percent": 0.1}, ["failed"]),
        (measured(), {"p50_ms": 200.0, "p99_ms": 200.0}, ["p99"]),
        (measured(age=180), {"staleness_seconds": 180.0}, []),
        (measured(age=181), {"staleness_seconds": 180.0}, ["oldest generation served"]),
    ],
)
def test_a_level_is_met_up_to_its_bound(sample: Sample, levels: Levels, expected: list[str]) -> None:
    assert missed(sample, **levels) == expected


def test_a_run_that_measured_nothing_misses() -> None:
    levels = {"p99_ms": 200.0, "failed_percent": 1.0, "staleness_seconds": 180.0}
    nothing = Sample(0, 0, 0, 0, Counter(), None, Counter(), 0)
    assert missed(nothing, **levels) == ["p99", "failed", "oldest generation served"]


def test_the_hit_ratio_is_a_lower_bound_and_judged_only_behind_a_cache() -> None:
    assert measured().evaluate({"least_hit_percent": 80}) == []
    assert missed(measured(hit=79, miss=21), least_hit_percent=80) == ["served from the edge's cache"]
    assert missed(measured(hit=79, miss=21), least_hit_percent=79) == []


LEVELS = {"p99_ms": 100.0}


def steps_of(*milliseconds: float) -> list[Sample]:
    """A step each; the n-th lasts a second, has n * 100 requests, and all of them take as long."""
    return [
        Sample(1, n * 10, n * 100, 0, Counter({time: n * 100}), None, Counter(), 0)
        for n, time in enumerate(milliseconds, 1)
    ]


@pytest.mark.parametrize(
    ("milliseconds", "last_met", "first_missed"),
    [((1, 5, 300, 2), 20, 30), ((1, 5), 20, None), ((300, 1), None, 10)],
)
def test_the_capacity_is_the_last_step_before_the_first_that_missed(
    milliseconds: tuple[float, ...], last_met: int | None, first_missed: int | None
) -> None:
    found = find_capacity(steps_of(*milliseconds), LEVELS)
    assert [step and step.users for step in found] == [last_met, first_missed]


def test_the_verdict_names_both_rates_and_what_was_missed() -> None:
    verdict = "all service levels are met at 200 requests a second. Missed at 300: p99 300 ms (at most 100)."
    assert describe_capacity(steps_of(1, 5, 300), LEVELS) == verdict


def test_the_verdict_says_what_to_do_when_the_first_step_misses_or_none() -> None:
    assert "start with fewer --users" in describe_capacity(steps_of(300, 1), LEVELS)
    assert "start with more --users" in describe_capacity(steps_of(1, 5), LEVELS)


def test_where_the_load_generator_was_late_the_verdict_says_so() -> None:
    met, missed = steps_of(1, 300)
    steps = [met, missed._replace(delayed_requests=100)]
    assert "perhaps at more" in describe_capacity(steps, LEVELS)


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


def test_a_step_without_a_response_counts_only_when_it_is_the_last() -> None:
    recorder = StepRecorder()
    for now in range(25):
        requests = 0 if now <= 6 else 10 * min(now, 18)
        sample = Sample(now, 7, requests, 0, Counter({1.0: requests}), None, Counter(), 0)
        recorder.tick(now // 6 if now < 24 else None, now, partial(Sample._make, sample))
    assert [step.requests for step in recorder.steps] == [40, 40, 0]


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
