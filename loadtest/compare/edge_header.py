"""The header that lets a request past the guard of an origin with EDGE_KEYS."""

import time
from pathlib import Path

from loadtest.compare.tools import run_tool

_SCRIPT = Path(__file__).with_name("edge-header.ts")


class EdgeHeader:
    """Computed by the contract's own code, once a minute: the origin accepts it for a minute longer."""

    def __init__(self, keys: str) -> None:
        self._keys = keys
        self._minute = -1
        self._fields: dict[str, str] = {}

    def fields(self) -> dict[str, str]:
        minute = int(time.time() // 60)
        if minute != self._minute:
            command = ["env", f"EDGE_KEYS={self._keys}", "bun", "--no-env-file", str(_SCRIPT)]
            self._fields = {"X-Edge-Signature": run_tool(command, "Bun")}
            self._minute = minute
        return self._fields
