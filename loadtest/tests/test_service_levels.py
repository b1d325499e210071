from collections import Counter
from pathlib import Path

import pytest

from loadtest.profiles import PROFILES
from loadtest.samples import Sample
from loadtest.service_levels import DEFAULT_FILE, LevelError, Levels, read_levels


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
