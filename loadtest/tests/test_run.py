"""Runs from end to end: bin/loadtest and locust alone, against our origin and one that does wrong."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from loadtest import local_origin
from loadtest.local_origin import LocalOrigin
from loadtest.responses import PageRequest
from loadtest.tests.pages import KEYS, page, response

ThreadingHTTPServer.request_queue_size = 256  # of 5: the others of a stampede would wait a second
SLOW_MACHINE = ("--level", "p50_ms=9000", "--level", "p99_ms=9000")


@pytest.fixture(scope="module")
def origin() -> Iterator[LocalOrigin]:
    with local_origin.running(publish_seconds=3) as running:
        yield running


def run(module: str, *arguments: str, environment: Mapping[str, str] = os.environ) -> tuple[int, str]:
    """Its exit code and all that it printed."""
    command = [sys.executable, "-m", module, *arguments]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def run_against_fake(delay: float = 0, cache_status: str = "", **wrong: Any) -> tuple[int, str]:
    """A run against a server that answers every request with a first page."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            time.sleep(delay)
            body = page(PageRequest(self.path.partition("region=")[2]), time.time()) | wrong
            answer = response(body, headers={"cache-status": cache_status} if cache_status else {})
            self.send_response(answer.status)
            for name, value in {**answer.headers, "content-length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        environment = {**os.environ, "TOKEN_KEYS": KEYS, "EDGE_KEYS": ""}
        arguments = ("--profile", "stampede", "--duration", "2s", "--users", "20", "--", "NewConnectionUser")
        ended = run("loadtest", url, *arguments, environment=environment)
        server.shutdown()
        return ended


def test_our_origin_holds(origin: LocalOrigin, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    arguments = ("--duration", "5s", "--users", "60", "--report", str(report), *SLOW_MACHINE)
    code, text = run("loadtest", origin.url, *arguments, environment=origin.environment)
    assert code == 0, text
    assert re.search(r"Aggregated +[1-9][0-9]+ +0\(0\.00%\)", text), text
    assert "Verdict: it holds at" in text
    assert "<html" in report.read_text()


def test_locust_runs_the_file_by_itself(origin: LocalOrigin) -> None:
    arguments = ("--host", origin.url, "--headless", "-u", "30", "-t", "3s", *SLOW_MACHINE)
    code, text = run("locust", "-f", "loadtest/locustfile.py", *arguments, environment=origin.environment)
    assert (code, "Verdict: it holds at" in text) == (0, True), text


def test_several_processes_add_up_and_climb_to_the_highest_step(origin: LocalOrigin) -> None:
    arguments = ("--profile", "limits", "--duration", "12s", "--users", "128", "--processes", "2")
    code, text = run("loadtest", origin.url, *arguments, *SLOW_MACHINE, environment=origin.environment)
    assert code == 0, text
    assert re.search(r"Verdict: it holds at [1-9][0-9]* requests a second, the highest step", text), text


def test_a_slow_origin_misses_its_service_level() -> None:
    code, text = run_against_fake(delay=0.9)
    assert code == 1, text
    assert re.search(r"MISSED +p99 [1-9][.,0-9]* ms \(at most 800 ms\)", text), text
    assert "Verdict: it does not hold" in text


def test_a_wrong_region_is_a_failure_and_counted() -> None:
    code, text = run_against_fake(region="AT")
    assert code == 1, text
    assert re.search(r"[1-9][0-9]* +GET /api/trending \(new connection\): wrong region", text), text
    assert "MISSED  failed" in text


def test_behind_a_cache_the_hit_ratio_is_printed_and_judged() -> None:
    code, text = run_against_fake(cache_status="TrendVault; fwd=miss")
    assert code == 1, text
    assert re.search(r"Cache-Status: miss [0-9]+$", text, re.MULTILINE), text
    assert "MISSED  served from the edge's cache" in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["http://192.0.2.1"], 2, "--yes-this-is-mine"),
        (["--level", "p99=5"], 2, "no service level 'p99'"),
        (["http://127.0.0.1:1"], 3, "Nothing listens at http://127.0.0.1:1"),
    ],
)
def test_what_cannot_run_says_why(arguments: list[str], code: int, message: str) -> None:
    ended, text = run("loadtest", *arguments)
    assert (ended, message in text) == (code, True), text
