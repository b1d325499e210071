"""The command line of bin/bench."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.plan import FULL, QUICK, Plan
from bench.result import FOLDER


@dataclass(frozen=True)
class Options:
    plan: Plan
    output: Path  # a folder


def parse_options(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="bin/bench",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Is this really better than what I have? Measures the origin beside the same endpoint\n"
        "in Bun, Go, Node and PHP, and beside nginx with the finished bytes, in turns on cores of their own.",
        epilog="Writes result.json and chart.svg. The first run builds the others, which takes a minute.\n"
        "docs/benchmarks.md says how it measures and what the figures are worth.",
    )
    parser.add_argument("--quick", action="store_true", help="the common scenarios alone, in under a minute")
    parser.add_argument(
        "--output",
        type=Path,
        default=FOLDER,
        metavar="FOLDER",
        help="where to write (default bench/published)",
    )
    read = parser.parse_args(arguments)
    return Options(QUICK if read.quick else FULL, read.output)
