"""Drives a server with wrk: as many requests as it takes, over so many connections."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.cores import on_cores

_SCRIPT = Path(__file__).parent / "wrk.lua"
_MARK = "figures "


class WrkFailed(RuntimeError):
    """wrk ended without figures. The message holds the last it printed."""


@dataclass(frozen=True)
class Load:
    """What is asked: one target, or those of a file (see wrk.lua) in turn."""

    target: str = "/api/trending?region=GB"
    headers: Mapping[str, str] | None = None
    mix: Path | None = None
    connections: int = 64


@dataclass(frozen=True)
class Figures:
    requests: int
    seconds: float
    bytes: int
    errors: int  # of connections, time-outs, and statuses from 400
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


def drive(url: str, load: Load, seconds: int, cores: frozenset[int]) -> Figures:
    with on_cores(cores):
        done = subprocess.run(_command(url, load, seconds), capture_output=True, text=True)
    return parse(done.stdout + done.stderr)


def start(url: str, load: Load, seconds: int, cores: frozenset[int]) -> subprocess.Popen[str]:
    """For load beside other load; what it measures goes to its standard output."""
    with on_cores(cores):
        return subprocess.Popen(_command(url, load, seconds), stdout=subprocess.PIPE, text=True)


def parse(output: str) -> Figures:
    for line in output.splitlines():
        if line.startswith(_MARK):
            read = json.loads(line.removeprefix(_MARK))
            times = {f"{name}_ms": read[name] / 1000 for name in ("p50", "p95", "p99", "max")}
            return Figures(
                read["requests"], read["microseconds"] / 1e6, read["bytes"], read["errors"], **times
            )
    raise WrkFailed(f"wrk gave no figures: {output[-400:]}")


def _command(url: str, load: Load, seconds: int) -> list[str]:
    command = ["wrk", "-t1", f"-c{load.connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(_SCRIPT)]
    for name, value in (load.headers or {}).items():
        command += ["-H", f"{name}: {value}"]
    command.append(url + load.target)
    return command if load.mix is None else [*command, "--", str(load.mix)]
