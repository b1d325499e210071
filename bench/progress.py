"""Lines that say what is being done, on standard error: standard output is for the result."""

import sys
import time

_started = time.monotonic()


def say(what: str) -> None:
    print(f"{time.monotonic() - _started:5.0f} s  {what}", file=sys.stderr, flush=True)
