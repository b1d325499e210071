"""How bin/loadtest ends."""

from enum import IntEnum


class ExitCode(IntEnum):
    KEPT = 0  # every service level
    MISSED = 1  # at least one
    USAGE = 2
    COULD_NOT_RUN = 3
