"""Is this really better than what I have? See bin/bench --help."""

import sys

from loadtest.compare.compare import compare
from loadtest.compare.databases import WriterFailed
from loadtest.compare.options import parse_options
from loadtest.compare.scenarios import NotMeasured
from loadtest.compare.targets import MissingTool
from loadtest.compare.wrk import WrkFailed

try:
    compare(parse_options(sys.argv[1:]))
except (MissingTool, NotMeasured, WriterFailed, WrkFailed) as error:
    sys.exit(f"bin/bench: {error}")
