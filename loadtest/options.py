"""The command line of bin/loadtest."""

import argparse
import ipaddress
import re
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from urllib.parse import urlsplit

from loadtest.levels import DEFAULT_FILE, LevelError, read_levels
from loadtest.profiles import PROFILES


class ExitCode(IntEnum):
    MET = 0  # all service levels
    MISSED = 1  # at least one
    USAGE = 2
    COULD_NOT_RUN = 3


LOCAL_URL = "http://127.0.0.1:3000"
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of `_parser`, and `locust` with what follows --. Raises SystemExit(2) after a message."""
    parser = _parser()
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:end])
    if options.url is not None and not _is_loopback(options.url) and not options.yes_this_is_mine:
        parser.error(
            f"{options.url} is not on this machine. Load that its owner did not ask for is an attack: "
            "add --yes-this-is-mine if it is yours."
        )
    try:
        read_levels(options.levels, options.profile, options.level)
    except LevelError as error:
        parser.error(str(error))
    options.seconds = options.duration or PROFILES[options.profile].seconds
    options.users = options.users or PROFILES[options.profile].users
    options.locust = list(arguments[end + 1 :])
    return options


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name, which may lead anywhere


def _origin(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected http(s)://host[:port] without a path")
    return text.rstrip("/")


def _duration(text: str) -> int:
    """Seconds of "90s", "5m", "1h" or "90"."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})([smh]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number with s, m or h, as in 60s or 5m")
    return int(match[1]) * _UNITS[match[2]]


def _positive(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number from 1")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    profiles = "".join(
        f"  {name:9} {profile.meaning} ({profile.users} users, {profile.seconds} s)\n"
        for name, profile in PROFILES.items()
    )
    parser = argparse.ArgumentParser(
        prog="bin/loadtest",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Tells whether an origin meets its service levels under load: its users behave like\n"
        "real ones, and every response is checked.",
        epilog=f"profiles:\n{profiles}\n"
        "What follows -- goes to locust: see loadtest/README.md for several machines.\n"
        "Exit code: 0 all service levels met, 1 one missed, 2 bad arguments, 3 the test could not run.",
    )
    add = parser.add_argument
    add("url", nargs="?", type=_origin, help=f"origin or edge (default {LOCAL_URL}; started if none listens)")
    add("--profile", choices=PROFILES, default="steady", help="kind of load, see below (default steady)")
    add("--duration", type=_duration, metavar="TIME", help="60s, 5m, 1h (default: the profile's)")
    add("--users", type=_positive, metavar="N", help="at the peak, one request a second each")
    add("--level", action="append", default=[], metavar="NAME=NUMBER", help="override a service level")
    add("--levels", type=Path, default=DEFAULT_FILE, metavar="FILE", help="another file of service levels")
    add("--report", type=Path, metavar="FILE", help="write locust's report as HTML")
    add("--web", action="store_true", help="start locust's web interface, and the load from there")
    add("--processes", type=_positive, default=1, metavar="N", help="of the load generator (default 1)")
    add("--yes-this-is-mine", action="store_true", help="needed for any host but this machine")
    return parser
