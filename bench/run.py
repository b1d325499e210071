"""A run of the bench from its first line to its last."""

import resource
import shutil
import sys

from bench.bench import prepared
from bench.chart import draw
from bench.cores import available_cores, divide_cores
from bench.machine import describe_machine, warnings
from bench.options import Options
from bench.plan import carry_out
from bench.result import Result, write_json
from bench.table import describe
from bench.targets import MissingTool

_OPEN_FILES = 12_000  # 5,000 connections, on both ends


def run_bench(options: Options) -> None:
    """Prints the tables, writes the result. Raises MissingTool when nothing can be measured here."""
    _require_surroundings()
    plan = options.plan
    cores = divide_cores(available_cores())
    result = Result(plan.mode, plan.rounds, plan.seconds, describe_machine(cores), warnings=warnings(cores))
    with prepared(cores) as bench:
        result.versions, result.missing = bench.versions, bench.missing
        result.sections = carry_out(plan, bench)
    print(describe(result))
    write_json(result, options.output / "result.json")
    (options.output / "chart.svg").write_text(draw(result))
    print(f"\nWritten: {options.output}/result.json and chart.svg")


def _require_surroundings() -> None:
    if sys.platform != "linux":
        raise MissingTool("CPU time is read from /proc: the bench needs Linux")
    if shutil.which("wrk") is None:
        raise MissingTool("wrk is not there: install it (on Debian: apt-get install wrk)")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_OPEN_FILES, hard), hard))
