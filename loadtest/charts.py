"""The chart that documents show, drawn with pygal, readable on light and dark pages."""

from typing import NamedTuple
from xml.etree.ElementTree import Element

import pygal
from pygal.style import Style

from loadtest.compare.results import BenchResult, ScenarioResult
from loadtest.compare.servers import NGINX, ORIGINS, RUNTIMES

_COLORS = dict.fromkeys(ORIGINS, "#2f81f7") | {NGINX: "#2da44e"}
_BASELINE_COLOR = "#bf8700"
_OTHER_COLOR = "#8c959f"
_TITLE = (
    "Server CPU per request, µs: user + system\none region's page, JSON, 64 connections; shorter is better"
)
_CUT_AT = 1.1  # of the longest bar that sends finished bytes: the others would leave those no room

_STYLE = Style(
    font_family="system-ui, sans-serif", label_font_size=13, value_label_font_size=13, title_font_size=13
)
# Colours in the place of pygal's own style sheets, which cannot follow the page's colour scheme.
_CSS = """
  text { fill: #1f2328 } .title { fill: #59636e; text-anchor: middle } .background { fill: none }
  .titles text:first-child { fill: #1f2328; font-weight: 600 } .axis.y text { text-anchor: end }
  .axis path { stroke: #8c959f } .serie-1 .bar rect { fill-opacity: .45 }
  @media (prefers-color-scheme: dark) {
    text, .titles text:first-child { fill: #f0f6fc } .title { fill: #9198a1 }
  }
"""


def draw_costs(result: BenchResult) -> bytes:
    """SVG: horizontal bars in the result's order. Raises ValueError without the default page's figures."""
    plain = result.scenario("plain")
    if plain is None or not plain.rows:
        raise ValueError("There is nothing to draw: the default page was not measured")
    rows = _rows(plain)
    end = _CUT_AT * max(row.cost for row in rows if not row.builds)
    rows.reverse()  # pygal draws from the bottom up
    chart = pygal.HorizontalStackedBar(
        width=760,
        height=170 + 32 * len(rows),
        css=(f"inline:{_CSS}",),
        style=_STYLE,
        js=(),
        title=_TITLE,
        x_title=_caption(result),
        show_legend=False,
        show_x_labels=False,
        print_labels=True,
        print_values_position="top",
        range=(0, 1.7 * end),  # leaves room for the labels
        rounded_bars=3,
    )
    chart.add_xml_filter(_without_scripts)
    chart.x_labels = [row.name for row in rows]
    user = [min(row.user, end) for row in rows]
    system = [min(row.system, end - one) for row, one in zip(rows, user, strict=True)]
    bars = list(zip(rows, user, system, strict=True))
    chart.add("user, µs", [{"value": us, "label": "", "color": row.color} for row, us, _ in bars])
    lighter = [{"value": us, "label": row.label(end), "color": row.color} for row, _, us in bars]
    chart.add("system, µs", lighter)
    return bytes(chart.render())


def _caption(result: BenchResult) -> str:
    return (
        "Dark: user time, light: system time.\n"
        "Grey builds the answer at every request; its bars are cut.\n"
        "The others send finished bytes, chosen by the query (blue),\n"
        "by the path (green) or not at all (yellow).\n"
        f"{result.machine['cpu']}, one core, load {result.machine.get('load before', '-')} at the start, "
        f"{result.rounds} rounds of {result.seconds} s"
    )


class _Row(NamedTuple):
    name: str
    user: float
    system: float
    ratio: float | None

    @property
    def cost(self) -> float:
        return self.user + self.system

    @property
    def builds(self) -> bool:
        return self.name in RUNTIMES

    @property
    def color(self) -> str:
        return _OTHER_COLOR if self.builds else _COLORS.get(self.name, _BASELINE_COLOR)

    def label(self, end: float) -> str:
        digits = 0 if self.builds else 1
        times = "" if self.ratio is None else f"  ({self.ratio:.{2 - 2 * self.builds}f} × nginx)"
        shown = "" if self.name == NGINX else times
        cut = ", cut" if self.cost > end else ""
        return f"{self.user:.{digits}f} + {self.system:.{digits}f}{shown}{cut}"


def _rows(plain: ScenarioResult) -> list[_Row]:
    user, system, ratio = (plain.header.index(name) for name in ("user us", "system us", "x nginx"))
    measured = [(name, cells) for name, cells in plain.rows if cells[user] is not None]
    return [_Row(name, cells[user] or 0.0, cells[system] or 0.0, cells[ratio]) for name, cells in measured]


def _without_scripts(svg: Element) -> Element:
    """pygal's scripts are for tooltips, which an image in a README does not have."""
    for definitions in svg.findall("defs"):
        for script in definitions.findall("script"):
            definitions.remove(script)
    return svg
