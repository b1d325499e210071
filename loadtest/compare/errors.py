import subprocess

import psutil
import urllib3

from loadtest.local_origin import CannotStart


class CannotMeasure(RuntimeError):
    """The message names what is missing or failed and, where possible, what to do."""


# What ends the measurement of one server or scenario, and not the run.
FAILURES = (
    CannotMeasure,
    CannotStart,
    OSError,
    psutil.Error,
    subprocess.SubprocessError,
    urllib3.exceptions.HTTPError,
    ArithmeticError,  # from here on: figures that make no sense
    LookupError,
    ValueError,
)
