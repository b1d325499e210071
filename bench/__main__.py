"""Is this really better than what I have? See bin/bench --help."""

import sys

from bench.databases import WriterFailed
from bench.options import parse_options
from bench.run import run_bench
from bench.scenarios import NotMeasured
from bench.targets import MissingTool
from bench.wrk import WrkFailed

try:
    run_bench(parse_options(sys.argv[1:]))
except (MissingTool, NotMeasured, WriterFailed, WrkFailed) as error:
    sys.exit(f"bin/bench: {error}")
