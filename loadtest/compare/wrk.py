"""Drives a server with wrk: as many requests as it can answer, over a number of connections."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loadtest.compare.errors import CannotMeasure
from loadtest.compare.machine import on_cores

DEFAULT_PAGE = "/api/trending?region=GB"
EXPORT = "/api/export/GB.ndjson"
_SCRIPT = Path(__file__).parent / "wrk.lua"
_MARK = "figures "


@dataclass(frozen=True)
class Load:
    """What wrk requests: one target, or those of a file (see wrk.lua) in turn."""

    target: str = DEFAULT_PAGE
    headers: Mapping[str, str] | None = None
    mix: Path | None = None
    connections: int = 64
    pipelined: int = 1  # requests that a connection sends at once


def drive(url: str, load: Load, seconds: int, cores: frozenset[int]) -> dict[str, float]:
    """The figures of wrk.lua. Raises CannotMeasure when no request was answered."""
    with on_cores(cores):
        done = subprocess.run(_command(url, load, seconds), capture_output=True, text=True)
    return parse(done.stdout + done.stderr)


def start(url: str, load: Load, seconds: int, cores: frozenset[int]) -> subprocess.Popen[str]:
    """Starts load beside other load; `parse` reads its output."""
    with on_cores(cores):
        return subprocess.Popen(_command(url, load, seconds), stdout=subprocess.PIPE, text=True)


def parse(output: str) -> dict[str, float]:
    for line in output.splitlines():
        if line.startswith(_MARK):
            figures: dict[str, float] = json.loads(line.removeprefix(_MARK))
            if figures["requests"] > 0:
                return figures
    raise CannotMeasure(f"wrk counted no response: {output[-400:]}")


def _command(url: str, load: Load, seconds: int) -> list[str]:
    command = ["wrk", "-t1", f"-c{load.connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(_SCRIPT)]
    for name, value in (load.headers or {}).items():
        command += ["-H", f"{name}: {value}"]
    mix = [] if load.mix is None else [f"mix={load.mix}"]
    return [*command, url + load.target, "--", *mix, f"pipelined={load.pipelined}"]
