"""The result as text."""

from collections.abc import Sequence

from bench.quoted import QUOTED, SOURCE
from bench.result import Result
from bench.section import Goal, Section

_NAME_WIDTH = 24
_CELL_WIDTH = 10


def describe(result: Result) -> str:
    parts = [
        "\n".join(f"{name}: {text}" for name, text in {**result.machine, **result.versions}.items()),
        *(describe_section(section) for section in result.sections),
        describe_quoted(result),
        describe_goals(result.goals),
        *(f"missing: {name}: {reason}" for name, reason in result.missing.items()),
        *(f"warning: {warning}" for warning in result.warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def describe_section(section: Section) -> str:
    lines = [section.title, _row("", section.header)]
    lines += [_row(name, [_number(cell) for cell in cells]) for name, cells in section.rows]
    return "\n".join([*lines, *section.notes])


def describe_goals(goals: Sequence[Goal]) -> str:
    return "\n".join(["goals", *(_describe_goal(goal) for goal in goals)])


def describe_quoted(result: Result) -> str:
    """Ours of one core beside what is quoted of others, with what makes them differ."""
    plain, start = result.section("plain"), result.section("start")
    if plain is None:
        return ""
    lines = [f"beside what is quoted ({SOURCE})", _row("", ("req/s", "p99 ms", "start ms", "RSS MB"))]
    starts = {name: cells[0] for name, cells in start.rows} if start else {}
    for name, cells in plain.rows:
        ours = dict(zip(plain.header, cells, strict=True))
        shown = (ours["req/s"], ours["p99 ms"], starts.get(name), ours["RSS MB"])
        lines.append(_row(f"{name}, one core", [_number(cell) for cell in shown]))
        for quoted in QUOTED:
            if quoted.name == name:
                shown = (quoted.per_second, quoted.p99_ms, quoted.start_ms, quoted.rss_mb)
                lines.append(_row("  quoted, 4 vCPU", [_number(cell) for cell in shown]))
    return "\n".join(lines)


def _describe_goal(goal: Goal) -> str:
    word = "met   " if goal.is_met else "MISSED"
    reached = "not measured" if goal.reached is None else _number(goal.reached)
    bound = f"{'at least' if goal.at_least else 'at most'} {goal.bound:g}"
    return f"  {word}  {goal.what}: {reached} {goal.unit} ({bound})".replace("  (", " (")


def _row(name: str, cells: Sequence[str]) -> str:
    return f"  {name:{_NAME_WIDTH}}" + "".join(f"{cell:>{_CELL_WIDTH}}" for cell in cells)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"
