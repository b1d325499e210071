#!/usr/bin/env python3
"""Fits TAPER and ASSUMED_AGE (see forecast.py) to recorded view counts and prints how they do.

Both are searched on a grid of whole hours for the least mean |ln(1 + views gained) - ln(1 + score)|
over every two observations of a video that are at most 7 days apart. The loss is kept per region
and day, so that leaving a day out costs no second search. `writer backtest` measures the ranking
that results; this only finds its constants.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from operator import ne
from statistics import median

from forecast import Series, expected_views, read, replay

HORIZON_HOURS = 7 * 24  # the longest window that is published
DAY_HOURS = 24
TAPERS = range(2, 31)
ASSUMED_AGES = range(24, 145, 4)
FEWEST_DAYS = 3

Point = tuple[int, int]  # taper, assumed age
Cell = tuple[str, int]  # region, day since 1970
Losses = dict[Cell, tuple[float, int]]  # sum of absolute log errors, pairs


def losses(series: Series, taper: int, assumed_age: int) -> Losses:
    totals: Losses = defaultdict(lambda: (0.0, 0))
    for key, index, velocity in replay(series, assumed_age):
        cell = key[0], int(velocity.last_observed_at // DAY_HOURS)
        for at, views, _ in series[key][index + 1 :]:
            if at - velocity.last_observed_at > HORIZON_HOURS:
                break
            score = expected_views(velocity, velocity.last_observed_at, at - velocity.last_observed_at, taper)
            error = abs(math.log1p(max(0, views - velocity.views)) - math.log1p(score))
            totals[cell] = totals[cell][0] + error, totals[cell][1] + 1
    return dict(totals)


def search(series: Series) -> dict[Point, Losses]:
    """The losses at every point of the grid; shows how far it is on a terminal."""
    grid: dict[Point, Losses] = {}
    for assumed_age in ASSUMED_AGES:
        for taper in TAPERS:
            grid[taper, assumed_age] = losses(series, taper, assumed_age)
        if sys.stderr.isatty():
            share = len(grid) / (len(TAPERS) * len(ASSUMED_AGES))
            print(f"\rsearching {share:4.0%}", end="\n" if share == 1 else "", file=sys.stderr)
    return grid


def best(grid: dict[Point, Losses], wanted: Callable[[Cell], bool]) -> Point:
    """The point with the least mean loss over the cells that are wanted."""

    def mean(point: Point) -> float:
        cells = [loss for cell, loss in grid[point].items() if wanted(cell)]
        return sum(loss[0] for loss in cells) / sum(loss[1] for loss in cells)

    return min(grid, key=mean)


def stability(grid: dict[Point, Losses]) -> dict[str, tuple[list[int], list[int]]]:
    """Per region, the range of each constant over the fits that leave one of its days out."""
    cells = sorted(grid[next(iter(grid))])
    ranges = {}
    for region in sorted({cell[0] for cell in cells}):
        points = [best(grid, partial(ne, out)) for out in cells if out[0] == region]
        tapers, ages = zip(*points, strict=True)
        ranges[region] = [min(tapers), max(tapers)], [min(ages), max(ages)]
    return ranges


def calibration(series: Series, point: Point) -> dict[tuple[str, int, bool], tuple[float, float, int]]:
    """Forecast / gained as median and as ratio of sums, and pairs; by region, days ahead, first or not."""
    taper, assumed_age = point
    cells: dict[tuple[str, int, bool], list[tuple[float, int]]] = defaultdict(list)
    for key, index, velocity in replay(series, assumed_age):
        for at, views, _ in series[key][index + 1 :]:
            ahead = at - velocity.last_observed_at
            if ahead in (DAY_HOURS, 3 * DAY_HOURS, HORIZON_HOURS):
                score = expected_views(velocity, velocity.last_observed_at, ahead, taper)
                cells[key[0], int(ahead / DAY_HOURS), index == 0].append(
                    (score, max(0, views - velocity.views))
                )
    return {cell: summary(pairs) for cell, pairs in sorted(cells.items())}


def summary(pairs: list[tuple[float, int]]) -> tuple[float, float, int]:
    ratio = median((score + 1) / (gained + 1) for score, gained in pairs)
    return ratio, sum(score for score, _ in pairs) / max(1, sum(gained for _, gained in pairs)), len(pairs)


def report(point: Point, grid: dict[Point, Losses], series: Series) -> None:
    print(f"TAPER_HOURS = {point[0]}, ASSUMED_AGE_HOURS = {point[1]}")
    for region, (tapers, ages) in stability(grid).items():
        ranges = f"taper {tapers[0]} to {tapers[1]} h, assumed age {ages[0]} to {ages[1]} h"
        print(f"{region}  leaving a day out: {ranges}")
    for (region, ahead, is_first), (middle, sums, pairs) in calibration(series, point).items():
        kind = "first rate" if is_first else "later rates"
        ratios = f"{middle:.2f} (median), {sums:.2f} (sums), {pairs} pairs"
        print(f"{region}  {ahead} d ahead, {kind}: forecast / gained {ratios}")


def observed_days(series: Series) -> set[Cell]:
    return {(key[0], int(at // DAY_HOURS)) for key, rows in series.items() for at, _, _ in rows}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="+", help="observations, NDJSON, plain or .gz")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    try:
        series = read(options.file)
    except OSError as problem:
        sys.exit(f"fit.py: {problem}")
    days = len(observed_days(series))
    if days < FEWEST_DAYS:
        sys.exit(f"fit.py: expected at least {FEWEST_DAYS} days of observations, found {days}")
    grid = search(series)
    point = best(grid, lambda cell: True)
    if options.json:
        cells = [[*cell, *row] for cell, row in calibration(series, point).items()]
        print(json.dumps({"TAPER_HOURS": point[0], "ASSUMED_AGE_HOURS": point[1], "calibration": cells}))
    else:
        report(point, grid, series)


if __name__ == "__main__":
    main()
