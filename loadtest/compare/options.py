"""The command line of bin/bench. bin/bench reads it with the system's Python before anything is downloaded,
so nothing but the standard library is imported here.
"""

import argparse
from pathlib import Path

PUBLISHED = Path(__file__).parent / "published"  # what the README shows
_RESULTS = PUBLISHED.with_name("results")  # git-ignored

# The titles of the tables, by scenario. Those of the pages come first and are measured in turns.
SCENARIOS = {
    "plain": "default page, plain",
    "compressed": "default page, br",
    "unchanged": "default page, 304",
    "mix": "Zipf mix of regions, windows, limits and encodings",
    "start": "process start to first answer",
    "memory": "memory of all processes (PSS)",
    "flood": "other requests beside a flood of queries",
    "connections": "5,000 connections, 2 workers",
    "publishing": "while a generation is published every second",
    "visible": "commit to visible",
    "writer": "ingesting, and a run of cron",
}
_QUICK = ("plain", "compressed", "unchanged", "mix", "start")
_DURATIONS = "The first take about 20 minutes, --quick three."


class BenchOptions(argparse.Namespace):
    """`scenarios` in the order of SCENARIOS; `output` is a folder."""

    scenarios: list[str]
    quick: bool
    publish: bool
    busy: bool
    output: Path


def parse_options(arguments: list[str] | None = None) -> BenchOptions:
    """Reads sys.argv by default. Prints the help or the mistake and raises SystemExit."""
    parser = argparse.ArgumentParser(
        prog="bin/bench",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measures CPU per request of this project's origin, of the same endpoint in Bun,\n"
        "Go, Node.js and PHP, and of nginx serving the finished bytes. Needs Linux.",
        epilog="scenarios:\n"
        + "\n".join(f"  {name:11}  {title}" for name, title in SCENARIOS.items())
        + f"\n\n{_DURATIONS}\nThe first run also builds the servers to compare with, which takes a minute.\n"
        "docs/benchmarks.md describes the method and what the figures are worth.",
    )
    parser.add_argument(
        "scenarios", nargs="*", metavar="SCENARIO", help="only these (default: all of the first)"
    )
    quick = f"short rounds; without a SCENARIO only {', '.join(_QUICK)}"
    parser.add_argument("--quick", action="store_true", help=quick)
    add_output = parser.add_mutually_exclusive_group().add_argument
    where = "where to write (default: loadtest/compare/results)"
    add_output("--output", type=Path, default=_RESULTS, metavar="FOLDER", help=where)
    publish = "write to loadtest/compare/published, which the documents show"
    add_output("--publish", action="store_true", help=publish)
    busy = "publish although the load average at the start is 0.5 or more: the result says so"
    parser.add_argument("--busy", action="store_true", help=busy)
    options = parser.parse_args(arguments, namespace=BenchOptions())
    if unknown := [name for name in options.scenarios if name not in SCENARIOS]:
        parser.error(f"no scenario {unknown[0]!r} (choose from {', '.join(SCENARIOS)})")
    if options.publish and (options.quick or options.scenarios):
        parser.error("--publish needs a full run: leave out --quick and the scenarios")
    if options.busy and not options.publish:
        parser.error("--busy is for --publish only")
    wanted = set(options.scenarios or (_QUICK if options.quick else SCENARIOS))
    options.scenarios = [name for name in SCENARIOS if name in wanted]
    options.output = PUBLISHED if options.publish else options.output
    return options
