"""The chart that the README shows: CPU per request, default page. Readable on light and dark pages."""

from collections.abc import Sequence
from html import escape

from bench.result import Result
from bench.section import Section
from bench.targets import FLOOR, ORIGIN

_WIDTH = 720
_LEFT = 132
_RIGHT = 150
_TOP = 62
_BAR = 22
_STEP = 32

_WHAT = "nginx and TrendVault answer with bytes made before; the others query, sign and encode per request."

_STYLE = """
  text { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; font-size: 13px; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .quiet { fill: #59636e; font-size: 12px; }
  .bar { fill: #9aa4af; }
  .ours { fill: #0969da; }
  .floor { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .bar { fill: #656c76; }
    .ours { fill: #4493f8; }
    .floor { fill: #3fb950; }
  }"""


def draw(result: Result) -> str:
    """An SVG of horizontal bars, the cheapest first. Raises ValueError without the default page's figures."""
    plain = result.section("plain")
    if plain is None or not plain.rows:
        raise ValueError("There is nothing to draw: the default page was not measured")
    rows = sorted(_costs(plain), key=lambda row: row[1])
    height = _TOP + len(rows) * _STEP + 50
    largest = max(cost for _, cost, _ in rows)
    bars = "\n".join(_bar(index, row, largest) for index, row in enumerate(rows))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"
  aria-labelledby="title">
<style>{_STYLE}
</style>
<title id="title">{escape(_summarize(rows))}</title>
<text class="title" x="16" y="26">Server CPU per request, µs</text>
<text class="quiet" x="16" y="46">one region's page, JSON, 64 connections; shorter is better</text>
{bars}
<text class="quiet" x="16" y="{height - 30}">{escape(_WHAT)}</text>
<text class="quiet" x="16" y="{height - 12}">{escape(_describe_method(result))}</text>
</svg>
"""


def _costs(plain: Section) -> list[tuple[str, float, float | None]]:
    """Name, microseconds, and how many times the floor's."""
    cpu, ratio = plain.header.index("CPU us"), plain.header.index("x nginx")
    return [(name, float(cells[cpu] or 0), cells[ratio]) for name, cells in plain.rows]


def _bar(index: int, row: tuple[str, float, float | None], largest: float) -> str:
    name, cost, ratio = row
    y = _TOP + index * _STEP
    length = max(2.0, (_WIDTH - _LEFT - _RIGHT) * cost / largest)
    kind = {ORIGIN: "ours", FLOOR: "floor"}.get(name, "bar")
    label = f"{cost:.1f}" + ("" if ratio is None or name == FLOOR else f"  ({_times(ratio)} × nginx)")
    middle = y + _BAR - 6
    return (
        f'<text x="{_LEFT - 10}" y="{middle}" text-anchor="end">{escape(name)}</text>\n'
        f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{length:.1f}" height="{_BAR}" rx="3"/>\n'
        f'<text x="{_LEFT + length + 8:.1f}" y="{middle}">{escape(label)}</text>'
    )


def _summarize(rows: Sequence[tuple[str, float, float | None]]) -> str:
    return "Server CPU per request: " + ", ".join(f"{name} {cost:.1f} µs" for name, cost, _ in rows)


def _describe_method(result: Result) -> str:
    cpu = result.machine["cpu"]
    return (
        f"One core of {cpu} serves, another drives; median of {result.rounds} rounds of {result.seconds} s."
    )


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"
