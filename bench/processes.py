"""What the kernel knows of a server's processes. Linux only: it reads /proc."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_STOP_SECONDS = 10
_POLL_SECONDS = 0.005
# Fields of /proc/PID/stat behind the command's closing bracket, counted from 0 (proc(5)).
_STATE, _SESSION, _UTIME, _STIME, _CUTIME, _CSTIME = 0, 3, 11, 12, 13, 14


class Session:
    """A command and all it starts: processes that share a session of their own."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("w") as output:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def last_words(self) -> str:
        return self._log.read_text(errors="replace")[-400:].strip()

    def members(self) -> "list[Member]":
        found = (_read_member(folder) for folder in Path("/proc").iterdir() if folder.name.isdigit())
        return [member for member in found if member is not None and member.session == self._process.pid]

    def stop(self) -> None:
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):  # what is left then is killed
            self._process.wait(_STOP_SECONDS)
        while left := self.members():
            for member in left:
                with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                    os.kill(member.pid, signal.SIGKILL)
            time.sleep(_POLL_SECONDS)
        self._process.wait()


@dataclass(frozen=True)
class Member:
    pid: int
    session: int
    cpu_seconds: float  # user and system, with the children it has waited for
    rss_mb: float


def _read_member(folder: Path) -> Member | None:
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        status = (folder / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None  # it has ended meanwhile
    if fields[_STATE] == "Z":
        return None  # ended, and not yet waited for
    ticks = sum(int(fields[field]) for field in (_UTIME, _STIME, _CUTIME, _CSTIME))
    rss = next((line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")), "0")
    return Member(int(folder.name), int(fields[_SESSION]), ticks / _TICKS_PER_SECOND, int(rss) / 1024)


def cpu_seconds(sessions: Sequence[Session]) -> float:
    return sum(member.cpu_seconds for session in sessions for member in session.members())


def rss_mb(sessions: Sequence[Session]) -> float:
    """Of all processes together; pages that they share count for each."""
    return sum(member.rss_mb for session in sessions for member in session.members())


def largest_rss_mb(sessions: Sequence[Session]) -> float:
    return max(member.rss_mb for session in sessions for member in session.members())
