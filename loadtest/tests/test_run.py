"""bin/loadtest from end to end, with a short run against an origin that does right or wrong."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loadtest.tests.fake_origin import Behaviour, serving
from loadtest.tests.pages import KEYS

ROOT = Path(__file__).parents[2]


def load_test(*arguments: str, keys: str = KEYS) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "loadtest", *arguments],
        cwd=ROOT,
        env={**os.environ, "TOKEN_KEYS": keys},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def short_run(behaviour: Behaviour, *arguments: str) -> tuple[int, str]:
    with serving(behaviour) as url:
        return load_test(url, "--profile", "stampede", "--duration", "2s", "--users", "20", *arguments)


def test_an_origin_that_does_right_holds(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    code, said = short_run(Behaviour(), "--report", str(report))
    assert code == 0, said
    assert re.search(r"^all +[1-9][0-9]* .* 0$", said, re.MULTILINE), said
    assert "Verdict: it holds" in said
    assert "<html" in report.read_text()


def test_a_slow_origin_misses_its_service_level() -> None:
    code, said = short_run(Behaviour(delay_seconds=0.3), "--level", "p99_ms=200", "--level", "p50_ms=100")
    assert code == 1, said
    assert re.search(r"MISSED +p99 [3-9][0-9][0-9] ms \(at most 200 ms\)", said), said
    assert "Verdict: it does not hold" in said


def test_a_wrong_region_is_a_failure_and_counted() -> None:
    code, said = short_run(Behaviour(spoil=lambda body: body.update(region="AT")))
    assert code == 1, said
    assert re.search(r"[1-9][0-9]*  /api/trending \(new connection\): wrong region", said), said
    assert "MISSED  failed" in said


def test_behind_a_cache_the_hit_ratio_is_told_and_judged() -> None:
    code, said = short_run(Behaviour(cache_status="TrendVault; fwd=miss"))
    assert code == 1, said
    assert "0.0 % of" in said
    assert "MISSED  served from the edge's cache" in said


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["http://192.0.2.1"], 2, "--yes-this-is-mine"),
        (["--level", "p99=5"], 2, "no service level 'p99'"),
        (["http://127.0.0.1:1"], 3, "Nothing listens at http://127.0.0.1:1"),
    ],
)
def test_what_cannot_run_says_why(arguments: list[str], code: int, complaint: str) -> None:
    ended, said = load_test(*arguments)
    assert (ended, complaint in said) == (code, True), said
