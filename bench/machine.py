"""Where the figures come from."""

import os
import platform
from pathlib import Path

from bench.cores import Cores


def describe_machine(cores: Cores) -> dict[str, str]:
    return {
        "cpu": _field(Path("/proc/cpuinfo"), "model name"),
        "cores": str(os.cpu_count()),
        "memory": f"{int(_field(Path('/proc/meminfo'), 'MemTotal').split()[0]) / 2**20:.0f} GB",
        "kernel": platform.release(),
        "system": _field(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"'),
        "server on": _name(cores.server),
        "wrk on": _name(cores.driver),
        "load before": f"{os.getloadavg()[0]:.2f}",
    }


def warnings(cores: Cores) -> list[str]:
    """What makes the figures worth less."""
    found = []
    if not cores.are_apart:
        found.append("One core has to serve and to drive: trust no figure but CPU per request.")
    if os.getloadavg()[0] > 1:
        found.append(
            "The machine was busy with something else when the bench began: repeat it on an idle one."
        )
    return found


def _name(cores: frozenset[int]) -> str:
    return f"core {', '.join(str(core) for core in sorted(cores))}"


def _field(file: Path, name: str, separator: str = ":") -> str:
    for line in file.read_text().splitlines():
        key, found, value = line.partition(separator)
        if found and key.strip() == name:
            return value.strip()
    return "unknown"
