"""Runs the programs that build, or name their version."""

import subprocess
from pathlib import Path

from bench.errors import CannotMeasure

_TIMEOUT_SECONDS = 600


def run_tool(command: list[str], needed: str, folder: Path | None = None) -> str:
    """The first line that the command prints. Raises CannotMeasure, which names what is `needed`."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True, timeout=_TIMEOUT_SECONDS
        )
    except FileNotFoundError:
        raise CannotMeasure(f"{command[0]} is missing: install {needed}") from None
    except subprocess.TimeoutExpired:
        raise CannotMeasure(f"{' '.join(command)} does not end within {_TIMEOUT_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        output = (error.stderr or error.stdout).strip()[-300:]
        raise CannotMeasure(f"{' '.join(command)} fails (it needs {needed}): {output}") from error
    return (done.stdout.strip() or done.stderr.strip()).partition("\n")[0]
