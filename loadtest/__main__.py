"""Will this origin hold tonight? See bin/loadtest --help."""

import signal
import sys

from loadtest.exit_codes import ExitCode
from loadtest.local_origin import CannotStart
from loadtest.options import UsageError, parse_options
from loadtest.service_levels import LevelError
from loadtest.start import run_load_test

# An origin of our own is stopped on the way out, whatever ends us.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.COULD_NOT_RUN))

try:
    sys.exit(run_load_test(parse_options(sys.argv[1:])))
except (UsageError, LevelError) as error:
    print(f"bin/loadtest: {error}", file=sys.stderr)
    sys.exit(ExitCode.USAGE)
except CannotStart as error:
    print(f"bin/loadtest: {error}", file=sys.stderr)
    sys.exit(ExitCode.COULD_NOT_RUN)
except KeyboardInterrupt:
    sys.exit(ExitCode.COULD_NOT_RUN)
