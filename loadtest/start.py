"""From the options to a run: finds or starts the origin, then lets locust do the work."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from loadtest import local_origin
from loadtest.local_origin import CannotStart, LocalOrigin
from loadtest.options import LOCAL_URL, Options
from loadtest.profiles import PROFILES
from loadtest.run import Plan
from loadtest.service_levels import read_levels

_ROOT = local_origin.ROOT
_LOCUSTFILE = Path(__file__).parent / "locustfile.py"
_CONNECT_SECONDS = 5


def run_load_test(options: Options) -> int:
    """Runs the test and gives its exit code. Raises CannotStart or LevelError before anything was sent."""
    levels = read_levels(options.levels_file, options.profile, options.levels)
    with _target(options) as origin:
        plan = Plan(options.profile, options.seconds, options.users, levels, _notes(origin))
        profile = PROFILES[options.profile]
        print(
            f"{origin.url}: {options.profile}, {profile.meaning}; {options.users} users, {options.seconds} s"
        )
        return _run_locust(
            _locust_command(options, origin.url), {**origin.environment, **plan.to_environment()}
        )


@contextmanager
def _target(options: Options) -> Iterator[LocalOrigin]:
    url = options.url or LOCAL_URL
    if options.is_worker or _is_listening(url):
        yield LocalOrigin(url.rstrip("/"), {**_key_file(_ROOT / ".env"), **os.environ})
    elif options.url is not None:
        raise CannotStart(f"Nothing listens at {url}")
    else:
        print(f"Nothing listens at {url}: starting an origin on a demo database", flush=True)
        with local_origin.running(PROFILES[options.profile].publish_seconds) as origin:
            yield origin


def _is_listening(url: str) -> bool:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), _CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _key_file(file: Path) -> dict[str, str]:
    """The local keys that bin/up made, so that tokens can be verified."""
    if not file.exists():
        return {}
    lines = [line.partition("=") for line in file.read_text().splitlines() if not line.startswith("#")]
    return {name.strip(): value.strip().strip("'\"") for name, _, value in lines if name.strip()}


def _notes(origin: LocalOrigin) -> tuple[str, ...]:
    if origin.environment.get("TOKEN_KEYS"):
        return ()
    return ("Tokens were checked for form, region, count and time, not for their signature: no TOKEN_KEYS.",)


def _locust_command(options: Options, url: str) -> list[str]:
    command = [sys.executable, "-m", "locust", "-f", str(_LOCUSTFILE), "--host", url, "--loglevel", "WARNING"]
    if options.processes > 1:
        command += ["--processes", str(options.processes)]
    if options.is_worker:
        return [*command, *options.locust]
    command += ["--web-host", "127.0.0.1"] if options.web else ["--headless", "--only-summary"]
    if options.report is not None:
        command += ["--html", str(options.report)]
    return [*command, *options.locust]


def _run_locust(command: list[str], environment: Mapping[str, str]) -> int:
    """Ctrl-C goes to locust, which ends the run and still tells its verdict."""
    path = os.pathsep.join(filter(None, [str(_ROOT), environment.get("PYTHONPATH")]))
    process = subprocess.Popen(command, env={**environment, "PYTHONPATH": path})
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    return process.wait()
