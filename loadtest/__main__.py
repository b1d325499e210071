"""bin/loadtest; see its --help. Finds or starts the origin, then starts locust."""

import os
import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from loadtest.options import LOCAL_URL, ExitCode, parse_options
from loadtest.processes import ROOT, CannotStart, LocalOrigin, is_listening, running_origin
from loadtest.profiles import PROFILES

_LOCUSTFILE = Path(__file__).parent / "locustfile.py"


def run_load_test(options: Namespace) -> int:
    """Runs the test and gives its exit code. Raises CannotStart before anything is sent."""
    with _target(options) as origin:
        meaning = PROFILES[options.profile].meaning
        load = f"{options.profile}, {meaning}; {options.users} users, {options.seconds} s"
        print(f"{origin.url}: {'as the master says' if '--worker' in options.locust else load}", flush=True)
        return _run_locust(_locust_arguments(options, origin.url), origin.environment)


@contextmanager
def _target(options: Namespace) -> Iterator[LocalOrigin]:
    url = options.url or LOCAL_URL
    if "--worker" in options.locust or is_listening(url):
        yield LocalOrigin(url, os.environ)
    elif options.url is not None:
        raise CannotStart(f"Nothing listens at {url}")
    else:
        print(f"Nothing listens at {url}: starting an origin on a demo database", flush=True)
        with running_origin(PROFILES[options.profile].publish_seconds) as origin:
            yield origin


def _locust_arguments(options: Namespace, url: str) -> list[str]:
    arguments = ["-f", str(_LOCUSTFILE), "--host", url, "--loglevel", "WARNING"]
    if options.processes > 1:
        arguments += ["--processes", str(options.processes), "--master-bind-host", "127.0.0.1"]
    if "--worker" not in options.locust:
        arguments += ["--load-profile", options.profile, "--levels", str(options.levels)]
        arguments += [f"--level={level}" for level in options.level]
        arguments += ["--users", str(options.users), "--run-time", f"{options.seconds}s"]
        arguments += ["--web-host", "127.0.0.1"] if options.web else ["--headless"]
        arguments += ["--html", str(options.report)] if options.report else []
    return [*arguments, *options.locust]


def _run_locust(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Ctrl-C goes to locust, which ends the run and prints its result."""
    path = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "locust", *arguments]
    process = subprocess.Popen(command, env={**environment, "PYTHONPATH": path})
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    return process.wait()


# SystemExit, so that an origin of our own is stopped on the way out.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.COULD_NOT_RUN))

try:
    sys.exit(run_load_test(parse_options(sys.argv[1:])))
except CannotStart as error:
    sys.stderr.write(f"bin/loadtest: {error}\n")
except KeyboardInterrupt:
    pass
sys.exit(ExitCode.COULD_NOT_RUN)
