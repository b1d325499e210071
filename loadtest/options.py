"""The command line of bin/loadtest."""

import argparse
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from loadtest.profiles import PROFILES
from loadtest.service_levels import DEFAULT_FILE

LOCAL_URL = "http://127.0.0.1:3000"
_UNITS = {"s": 1, "m": 60, "h": 3600}


class UsageError(ValueError):
    """Arguments that cannot be used. The message says what was expected."""


@dataclass(frozen=True)
class Options:
    url: str | None  # None: the local origin, or one of our own
    profile: str
    seconds: int
    users: int
    levels_file: Path
    levels: tuple[str, ...]
    report: Path | None
    web: bool
    processes: int
    locust: tuple[str, ...]  # handed to locust as they are

    @property
    def is_worker(self) -> bool:
        return "--worker" in self.locust


def parse_options(arguments: Sequence[str]) -> Options:
    """Exits for --help and for what argparse refuses; raises UsageError for the rest."""
    own, locust = _split(list(arguments))
    read = _parser().parse_args(own)
    profile = PROFILES[read.profile]
    if read.url is not None:
        _require_url(read.url)
        if not is_loopback(read.url) and not read.yes_this_is_mine:
            raise UsageError(
                f"{read.url} is not on this machine. Load is an attack on whoever did not ask for it: "
                "add --yes-this-is-mine if it is yours."
            )
    return Options(
        url=read.url,
        profile=read.profile,
        seconds=profile.seconds if read.duration is None else parse_duration(read.duration),
        users=read.users or profile.users,
        levels_file=read.levels,
        levels=tuple(read.level),
        report=read.report,
        web=read.web,
        processes=read.processes,
        locust=tuple(locust),
    )


def parse_duration(text: str) -> int:
    """Seconds of "90s", "5m", "1h" or "90"."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})([smh]?)", text)
    if match is None:
        raise UsageError(f"--duration is {text!r}: expected a whole number with s, m or h, as in 60s or 5m")
    return int(match[1]) * _UNITS[match[2] or "s"]


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name: where it leads is not ours to guess


def _require_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise UsageError(f"{url!r} is no origin: expected http(s)://host[:port] without a path")


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return arguments, []
    border = arguments.index("--")
    return arguments[:border], arguments[border + 1 :]


def _positive(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bin/loadtest",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Will this origin hold tonight? Sends it users that behave like real ones, checks every\n"
        "answer, and says which service level was kept and which was missed.",
        epilog=_epilog(),
    )
    add = parser.add_argument
    add("url", nargs="?", help=f"the origin or the edge (default {LOCAL_URL}; started if nothing listens)")
    add("--profile", choices=PROFILES, default="steady", help="what kind of evening (default steady)")
    add("--duration", metavar="TIME", help="length of the run: 60s, 5m, 1h (default: the profile's)")
    add("--users", type=_positive, metavar="N", help="at the peak, one request a second each")
    add("--level", action="append", default=[], metavar="NAME=NUMBER", help="override a service level")
    add("--levels", type=Path, default=DEFAULT_FILE, metavar="FILE", help="another file of service levels")
    add("--report", type=Path, metavar="FILE", help="write locust's report as HTML")
    add("--web", action="store_true", help="open locust's own interface instead of running at once")
    add("--processes", type=_positive, default=1, metavar="N", help="of the load generator (default 1)")
    add("--yes-this-is-mine", action="store_true", help="needed for any host but this machine")
    return parser


def _epilog() -> str:
    profiles = "\n".join(
        f"  {name:9} {profile.meaning} ({profile.users} users, {profile.seconds} s)"
        for name, profile in PROFILES.items()
    )
    return (
        f"profiles:\n{profiles}\n\n"
        "What follows -- goes to locust: see loadtest/README.md for several machines.\n"
        "Exit code: 0 every service level kept, 1 one missed, 2 bad arguments, 3 the test could not run."
    )
