"""The fitted program is the one that ranks: both answer the same cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from forecast import Velocity, expected_views, first, observe

CASES = json.loads(
    (Path(__file__).parents[1] / "tests/Ranking/forecast-cases.json").read_text(encoding="utf-8")
)
WINDOWS = {"now": 6.0, "day": 24.0, "week": 168.0}


def after(case: dict[str, Any]) -> Velocity:
    (at, views), *later = case["observations"]
    published = case["published_at"]
    velocity = first(
        at / 3600,
        views,
        None if published is None else published / 3600,
        CASES["constants"]["ASSUMED_AGE_HOURS"],
    )
    for at, views in later:
        observe(velocity, at / 3600, views)
    return velocity


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_a_history_gives_the_velocity_of_the_case(case: dict[str, Any]) -> None:
    velocity, expected = after(case), case["velocity"]
    assert velocity.views == expected["views"]
    assert velocity.views_per_hour == pytest.approx(expected["views_per_hour"], rel=1e-7)
    assert velocity.last_observed_at * 3600 == pytest.approx(expected["last_observed_at"], abs=0.01)
    assert velocity.rated_at * 3600 == pytest.approx(expected["rated_at"], abs=0.01)


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_a_case_scores_as_in_the_writer(case: dict[str, Any]) -> None:
    velocity = after(case)
    taper = CASES["constants"]["TAPER_HOURS"]
    scores = {
        name: expected_views(velocity, case["now"] / 3600, hours, taper) for name, hours in WINDOWS.items()
    }
    assert scores == pytest.approx(case["scores"], rel=1e-7)
