"""Describes the machine, and keeps server and load generator on different cores."""

import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from loadtest.compare.errors import CannotMeasure
from loadtest.compare.progress import progress

QUIET_LOAD = 0.5  # load average
_QUIET_WITHIN_SECONDS = 600
_LOOK_AGAIN_SECONDS = 15


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


def wait_until_quiet() -> None:
    """What was installed a moment ago still counts in the load. Raises CannotMeasure when it stays high."""
    deadline = time.monotonic() + _QUIET_WITHIN_SECONDS
    while (load := os.getloadavg()[0]) >= QUIET_LOAD:
        if time.monotonic() > deadline:
            raise CannotMeasure(
                f"The load average is {load:.2f}, and a published result needs one under {QUIET_LOAD}: "
                "end what is running, or publish with --busy, which the result says"
            )
        progress.log(f"waiting for a load average under {QUIET_LOAD}, now {load:.2f}")
        time.sleep(_LOOK_AGAIN_SECONDS)


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
