"""The tables of other projects in one, a line per server: as published, and measured here."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from loadtest.compare.options import SEEDS
from loadtest.compare.result import REFERENCE_FIGURES, BenchResult, ScenarioResult
from loadtest.compare.servers import ORIGIN
from loadtest.tables import format_number

HEADER = (
    "table", "server", "published req/s", "p99 ms", "here req/s", "CPU us, user + system", "p99 ms",
    "ours req/s", "CPU us, user + system", "p99 ms", "ours loses in",
)  # fmt: skip
_DOCUMENT_HEADER = ("table", "server", "published req/s", "req/s", "CPU us, user + system", "p99 ms")
DOCUMENT = Path(__file__).parents[2] / "docs/benchmarks.md"
_BEGIN, _END = "<!-- seeds: begin, written by bin/bench --seeds --publish -->\n", "<!-- seeds: end -->"
_INVALID = ", invalid"
_MORE_IS_BETTER = {"CPU us": False, "req/s": True, "p99 ms": False}

Cells = Mapping[str, float | None]


def seed_lines(result: BenchResult) -> Iterator[tuple[str, ...]]:
    """One line per server and kind of request, of the tables that were measured."""
    for name in SEEDS:
        if (scenario := result.scenario(name)) is not None:
            yield from _lines(scenario)


def write_into_document(result: BenchResult, document: Path = DOCUMENT) -> None:
    """Replaces what is between the two marks."""
    before, _, rest = document.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    measured = f"Load average at the start: {result.machine['load before']}. {result.machine['cpu']}."
    lines = [_DOCUMENT_HEADER, ("---",) * 2 + ("---:",) * 4, *_document_lines(result)]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    document.write_text(f"{before}{_BEGIN}\n{measured}\n\n{table}\n{_END}{after}")


def _document_lines(result: BenchResult) -> Iterator[tuple[str, ...]]:
    """One line per server, ours among them, without what the reader can compare."""
    for name in SEEDS:
        if (scenario := result.scenario(name)) is not None:
            published = REFERENCE_FIGURES[name].get("figures", {})
            for label, cells in scenario.rows:
                figures = dict(zip(scenario.header, cells, strict=True))
                quoted = format_number(published.get(label, {}).get("per_second"))
                yield (name, label, quoted, *_shown(figures))


def _lines(scenario: ScenarioResult) -> Iterator[tuple[str, ...]]:
    rows = {label: dict(zip(scenario.header, cells, strict=True)) for label, cells in scenario.rows}
    published = REFERENCE_FIGURES[scenario.name].get("figures", {})
    for label, theirs in rows.items():
        ours = rows.get(f"{ORIGIN}{_INVALID}" if label.endswith(_INVALID) else ORIGIN, {})
        if theirs is not ours:
            figures = published.get(label, {})
            quoted = (format_number(figures.get(key)) for key in ("per_second", "p99_ms"))
            yield (scenario.name, label, *quoted, *_shown(theirs), *_shown(ours), _losses(ours, theirs))


def _shown(cells: Cells) -> tuple[str, str, str]:
    cpu = " + ".join(format_number(cells.get(name)) for name in ("user us", "system us"))
    return format_number(cells.get("req/s")), cpu, format_number(cells.get("p99 ms"))


def _losses(ours: Cells, theirs: Cells) -> str:
    lost = []
    for column, more_is_better in _MORE_IS_BETTER.items():
        our, their = ours.get(column), theirs.get(column)
        if our is not None and their is not None and (our < their if more_is_better else our > their):
            lost.append(column)
    return ", ".join(lost)
