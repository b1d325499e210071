"""Measures what a request costs; see bin/bench --help."""

import resource
import shutil
import signal
import sys

from loadtest.charts import draw_costs
from loadtest.compare.environment import prepared_environment
from loadtest.compare.machine import (
    CannotMeasure,
    available_cores,
    describe_machine,
    divide_cores,
    require_quiet,
    warnings,
)
from loadtest.compare.options import BenchOptions, parse_options
from loadtest.compare.results import BenchResult, print_result, write_json
from loadtest.compare.scenarios import PAGE_ROUNDS, measure_scenarios, servers_of
from loadtest.processes import CannotStart
from loadtest.tables import result_console

_OPEN_FILES = 12_000  # 5,000 connections, on both ends


def main(options: BenchOptions) -> None:
    """Prints the tables, writes the result. Raises CannotMeasure when nothing can be measured here."""
    _require_tools()
    if options.publish and not options.busy:
        require_quiet()
    cores = divide_cores(available_cores())
    rounds = PAGE_ROUNDS.shortened(quick=options.quick)
    mode = "quick" if options.quick else "full"
    result = BenchResult(mode, rounds.count, rounds.seconds, describe_machine(cores))
    result.warnings = warnings(cores)
    with prepared_environment(cores, servers_of(options.scenarios)) as bench:
        result.versions, result.missing = bench.versions, bench.missing
        result.scenarios = measure_scenarios(options.scenarios, bench, quick=options.quick)
    print_result(result, result_console())
    write_json(result, options.output / "result.json")
    print(f"\nWritten: {options.output / 'result.json'}")
    if (plain := result.scenario("plain")) is not None and plain.rows:
        (options.output / "chart.svg").write_bytes(draw_costs(result))
        print(f"Written: {options.output / 'chart.svg'}")


def _require_tools() -> None:
    if sys.platform != "linux":
        raise CannotMeasure("It needs Linux: it pins servers and load generator to cores of their own")
    if shutil.which("wrk") is None:
        raise CannotMeasure("wrk is missing: install it (on Debian: apt-get install wrk)")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_OPEN_FILES, hard), hard))


signal.signal(signal.SIGTERM, lambda *_: sys.exit("bin/bench: ended by a signal"))  # and the servers with it
try:
    main(parse_options())
except (CannotMeasure, CannotStart) as error:
    sys.exit(f"bin/bench: {error}")
