"""The machine of a run: its cores, its tools and its load, and what cannot be measured on it."""

import os
import platform
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import urllib3
from rich.console import Console

from loadtest.processes import CannotStart


class CannotMeasure(RuntimeError):
    """The message names what is missing or failed and, where possible, what to do."""


# What ends the measurement of one server or scenario, and not the run.
FAILURES = (
    CannotMeasure,
    CannotStart,
    OSError,
    psutil.Error,
    subprocess.SubprocessError,
    urllib3.exceptions.HTTPError,
    ArithmeticError,  # from here on: figures that make no sense
    LookupError,
    ValueError,
)


# On standard error: standard output is for the result.
progress = Console(stderr=True, log_path=False, markup=False, highlight=False, soft_wrap=True)


QUIET_LOAD = 0.5  # load average


@dataclass(frozen=True)
class Cores:
    server: frozenset[int]
    driver: frozenset[int]

    @property
    def are_apart(self) -> bool:
        return self.server.isdisjoint(self.driver)


def available_cores() -> frozenset[int]:
    return frozenset(os.sched_getaffinity(0))


def divide_cores(available: frozenset[int], server_count: int = 1) -> Cores:
    """The last core is for the load generator, those before it for the server; a single core is for both."""
    ordered = sorted(available)
    if len(ordered) == 1:
        return Cores(available, available)
    return Cores(frozenset(ordered[-1 - server_count : -1] or ordered[:1]), frozenset(ordered[-1:]))


@contextmanager
def on_cores(cores: frozenset[int]) -> Iterator[None]:
    """Processes that are started inside run on these cores, which they inherit."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def describe_machine(cores: Cores) -> dict[str, str]:
    return {
        "cpu": _cpu_model(),
        "cores": str(psutil.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GB",
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release()["PRETTY_NAME"],
        "server on": _name(cores.server),
        "wrk on": _name(cores.driver),
        "load before": f"{os.getloadavg()[0]:.2f}",
    }


def require_quiet() -> None:
    """For a published result. Raises CannotMeasure."""
    if (load := os.getloadavg()[0]) >= QUIET_LOAD:
        raise CannotMeasure(
            f"The load average is {load:.2f}, and a published result needs one under {QUIET_LOAD}: "
            "end what is running, or publish with --busy, which the result says"
        )


def warnings(cores: Cores) -> list[str]:
    """What makes the figures less reliable."""
    found = []
    if not cores.are_apart:
        found.append("Servers and load generator share the only core: only CPU per request is reliable.")
    if (load := os.getloadavg()[0]) >= QUIET_LOAD:
        found.append(f"The load average was {load:.2f} when the bench began: repeat it on an idle machine.")
    return found


def _name(cores: frozenset[int]) -> str:
    return f"core {', '.join(map(str, sorted(cores)))}"


def _cpu_model() -> str:
    found = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


_TOOL_TIMEOUT_SECONDS = 600


def run_tool(command: list[str], needed: str, folder: Path | None = None) -> str:
    """The first line that the command prints. Raises CannotMeasure, which names what is `needed`."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True, timeout=_TOOL_TIMEOUT_SECONDS
        )
    except FileNotFoundError:
        raise CannotMeasure(f"{command[0]} is missing: install {needed}") from None
    except subprocess.TimeoutExpired:
        raise CannotMeasure(f"{' '.join(command)} does not end within {_TOOL_TIMEOUT_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        output = (error.stderr or error.stdout).strip()[-300:]
        raise CannotMeasure(f"{' '.join(command)} fails (it needs {needed}): {output}") from error
    return (done.stdout.strip() or done.stderr.strip()).partition("\n")[0]
