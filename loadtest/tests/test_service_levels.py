from pathlib import Path

import pytest

from loadtest.profiles import PROFILES
from loadtest.service_levels import DEFAULT_FILE, LevelError, judge, read_levels
from loadtest.tally import Tally


def seen(*, milliseconds: float = 5, requests: int = 1000, failed: int = 0) -> Tally:
    tally = Tally()
    for number in range(requests):
        tally.add("/api/trending", milliseconds, "wrong region" if number < failed else None)
    tally.add_age(10)
    return tally


def missed(tally: Tally, **levels: float) -> list[str]:
    return [judgement.name for judgement in judge(tally, levels) if not judgement.kept]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_has_every_level(profile: str) -> None:
    assert set(read_levels(DEFAULT_FILE, profile)) >= {
        "p50_ms",
        "p99_ms",
        "failed_percent",
        "staleness_seconds",
    }


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


def test_a_level_is_kept_up_to_its_bound() -> None:
    assert missed(seen(failed=1), failed_percent=0.1) == []
    assert missed(seen(failed=2), failed_percent=0.1) == ["failed_percent"]


def test_slow_answers_miss_the_percentile_they_are_in() -> None:
    assert missed(seen(milliseconds=300), p50_ms=400, p99_ms=200) == ["p99_ms"]


def test_a_slow_fiftieth_of_all_answers_misses_p99_and_not_p50() -> None:
    tally = seen(requests=980)
    tally.merge(seen(milliseconds=300, requests=20))
    assert missed(tally, p50_ms=200, p99_ms=200) == ["p99_ms"]


def test_an_old_generation_misses_staleness() -> None:
    tally = seen()
    tally.add_age(181)
    assert missed(tally, staleness_seconds=180) == ["staleness_seconds"]


def test_a_run_that_measured_nothing_misses() -> None:
    assert missed(Tally(), p99_ms=200, failed_percent=1, staleness_seconds=180) == [
        "p99_ms",
        "failed_percent",
        "staleness_seconds",
    ]


def test_the_hit_ratio_is_a_lower_bound_and_judged_only_behind_a_cache() -> None:
    tally = seen()
    assert judge(tally, {"least_hit_percent": 80}) == []
    tally.cache_answers.update({"hit": 79, "miss": 21})
    assert missed(tally, least_hit_percent=80) == ["least_hit_percent"]
    assert missed(tally, least_hit_percent=79) == []
