"""Runs from end to end: bin/loadtest and locust alone, against our origin."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from loadtest.processes import LocalOrigin, free_port, running_origin
from loadtest.tests.pages import PUBLIC_KEYS

SLOW_MACHINE = ("--level", "p50_ms=9000", "--level", "p99_ms=9000")


@pytest.fixture(scope="module")
def origin() -> Iterator[LocalOrigin]:
    with running_origin(publish_seconds=3) as running:
        yield running


def run(module: str, *arguments: str, environment: Mapping[str, str] = os.environ) -> tuple[int, str]:
    """Its exit code and all that it printed."""
    command = [sys.executable, "-m", module, *arguments]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=400)
    return done.returncode, done.stdout + done.stderr


def test_our_origin_meets_its_service_levels(origin: LocalOrigin, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    arguments = ("--duration", "5s", "--users", "60", "--report", str(report), *SLOW_MACHINE)
    code, text = run("loadtest", origin.url, *arguments, environment=origin.environment)
    assert code == 0, text
    assert re.search(r"Aggregated +[1-9][0-9]+ +0\(0\.00%\)", text), text
    assert "Verdict: all service levels are met at" in text
    assert "<html" in report.read_text()


def test_locust_runs_the_file_by_itself(origin: LocalOrigin) -> None:
    arguments = ("--host", origin.url, "--headless", "-u", "30", "-t", "3s", *SLOW_MACHINE)
    code, text = run("locust", "-f", "loadtest/locustfile.py", *arguments, environment=origin.environment)
    assert (code, "Verdict: all service levels are met at" in text) == (0, True), text


def test_several_processes_add_up_and_climb_to_the_highest_step(origin: LocalOrigin) -> None:
    port = str(free_port())
    ours = ("--profile", "limits", "--duration", "12s", "--users", "128", "--processes", "2", *SLOW_MACHINE)
    locust = ("--", "--master-port", port, "--master-bind-port", port)
    code, text = run("loadtest", origin.url, *ours, *locust, environment=origin.environment)
    assert code == 0, text
    assert re.search(r"are met at [1-9][0-9]* requests a second, the highest step", text), text


def test_a_service_level_that_is_missed_ends_with_exit_code_1(origin: LocalOrigin) -> None:
    arguments = ("--profile", "stampede", "--duration", "6s", "--users", "20", "--level", "p99_ms=0.001")
    code, text = run("loadtest", origin.url, *arguments, environment=origin.environment)
    assert code == 1, text
    assert re.search(r"MISSED +p99 +[0-9.,]+ ms +at most 0.001", text), text
    assert re.search(r"Verdict: [1-5] of 4 service levels are missed", text), text


def test_wrong_responses_are_failures_and_counted_by_kind(origin: LocalOrigin) -> None:
    environment = {**origin.environment, "ORIGIN_JWKS": json.dumps(PUBLIC_KEYS)}
    arguments = ("--profile", "stampede", "--duration", "6s", "--users", "20", "--", "NewConnectionUser")
    code, text = run("loadtest", origin.url, *arguments, environment=environment)
    assert code == 1, text
    assert re.search(r"[1-9][0-9]* +GET /api/trending \(new connection\): token: unknown-key", text), text
    assert re.search(r"MISSED +failed +100 %", text), text


def test_an_address_where_nothing_listens_ends_with_exit_code_3() -> None:
    code, text = run("loadtest", "http://127.0.0.1:1")
    assert (code, text) == (3, "bin/loadtest: Nothing listens at http://127.0.0.1:1\n")
    code, text = run(
        "locust", "-f", "loadtest/locustfile.py", "--host", "http://127.0.0.1:1", "--headless", "-t", "3s"
    )
    assert (code, text.splitlines()[-1]) == (3, "loadtest: Nothing listens at http://127.0.0.1:1")
