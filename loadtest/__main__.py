"""bin/loadtest; see its --help."""

import signal
import sys

from loadtest.local_origin import CannotStart
from loadtest.options import ExitCode, parse_options
from loadtest.start import run_load_test

# SystemExit, so that an origin of our own is stopped on the way out.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.COULD_NOT_RUN))

try:
    sys.exit(run_load_test(parse_options(sys.argv[1:])))
except CannotStart as error:
    sys.stderr.write(f"bin/loadtest: {error}\n")
except KeyboardInterrupt:
    pass
sys.exit(ExitCode.COULD_NOT_RUN)
