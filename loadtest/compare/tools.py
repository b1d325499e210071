"""Runs the programs that build, name their version, or measure."""

import json
import subprocess
from pathlib import Path
from typing import Any

from loadtest.compare.errors import CannotMeasure

_TIMEOUT_SECONDS = 600


def run_tool(command: list[str], needed: str, folder: Path | None = None) -> str:
    """The first line that the command prints. Raises CannotMeasure, which names what is `needed`."""
    done = _run(command, needed, folder)
    return (done.stdout.strip() or done.stderr.strip()).partition("\n")[0]


def read_figures(command: list[str], needed: str) -> dict[str, Any]:
    """The JSON in the last line that the command prints: libraries may print before. Raises CannotMeasure."""
    printed = _run(command, needed, None).stdout.strip().rpartition("\n")[2]
    figures: dict[str, Any] = json.loads(printed)
    return figures


def _run(command: list[str], needed: str, folder: Path | None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True, timeout=_TIMEOUT_SECONDS
        )
    except FileNotFoundError:
        raise CannotMeasure(f"{command[0]} is missing: install {needed}") from None
    except subprocess.TimeoutExpired:
        raise CannotMeasure(f"{' '.join(command)} does not end within {_TIMEOUT_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        output = (error.stderr or error.stdout).strip()[-300:]
        raise CannotMeasure(f"{' '.join(command)} fails (it needs {needed}): {output}") from error
