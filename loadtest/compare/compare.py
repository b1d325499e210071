"""A run of the bench from its first line to its last."""

import resource
import shutil
import sys

from loadtest.compare.bench import prepared
from loadtest.compare.chart import draw
from loadtest.compare.cores import available_cores, divide_cores
from loadtest.compare.machine import describe_machine, warnings
from loadtest.compare.options import Options
from loadtest.compare.plan import carry_out
from loadtest.compare.result import Result, write_json
from loadtest.compare.table import describe
from loadtest.compare.targets import MissingTool

_OPEN_FILES = 12_000  # 5,000 connections, on both ends


def compare(options: Options) -> None:
    """Prints the tables, writes the result. Raises MissingTool when nothing can be measured here."""
    _require_surroundings()
    plan = options.plan
    cores = divide_cores(available_cores())
    result = Result(plan.mode, plan.rounds, plan.seconds, describe_machine(cores), warnings=warnings(cores))
    with prepared(cores) as bench:
        result.versions, result.missing = bench.versions, bench.missing
        result.sections = carry_out(plan, bench)
    print(describe(result))
    write_json(result, options.output / "latest.json")
    (options.output / "chart.svg").write_text(draw(result))
    print(f"\nWritten: {options.output}/latest.json and chart.svg")


def _require_surroundings() -> None:
    if sys.platform != "linux":
        raise MissingTool("CPU time is read from /proc: the bench needs Linux")
    if shutil.which("wrk") is None:
        raise MissingTool("wrk is not there: install it (on Debian: apt-get install wrk)")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_OPEN_FILES, hard), hard))
