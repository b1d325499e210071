"""The chart that the README shows: CPU per request, default page. Readable on light and dark pages."""

from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import pygal
from pygal.style import Style

from bench.result import BenchResult
from bench.servers import NGINX, NGINXES, ORIGINS, PEERS

_COLORS = dict.fromkeys(ORIGINS, "#2f81f7") | dict.fromkeys(NGINXES, "#2da44e")
_FLOOR_COLOR = "#bf8700"
_OTHER_COLOR = "#8c959f"
_TITLE = "Server CPU per request, µs\none region's page, JSON, 64 connections; shorter is better"

_STYLE = Style(
    font_family="system-ui, sans-serif", label_font_size=13, value_label_font_size=13, title_font_size=13
)
_CSS = Path(__file__).with_name("chart.css")


def draw(result: BenchResult) -> bytes:
    """SVG: horizontal bars, the cheapest on top. Raises ValueError without the default page's figures."""
    plain = result.scenario("plain")
    if plain is None or not plain.rows:
        raise ValueError("There is nothing to draw: the default page was not measured")
    user, system, ratio = (plain.header.index(name) for name in ("user us", "system us", "x nginx"))
    measured = [(name, cells) for name, cells in plain.rows if cells[user] is not None]
    rows = [_Row(name, cells[user] or 0.0, cells[system] or 0.0, cells[ratio]) for name, cells in measured]
    rows.sort(key=lambda row: -row.cost)  # pygal draws from the bottom up
    chart = pygal.HorizontalStackedBar(
        width=720,
        height=150 + 32 * len(rows),
        css=(f"file://{_CSS}",),
        style=_STYLE,
        js=(),
        title=_TITLE,
        x_title="Dark: user time, light: system time. Grey builds the answer at every request;\n"
        "the others send finished bytes. "
        f"One core of {result.machine['cpu']}, load {result.machine.get('load before', '-')} at the start,\n"
        f"median of {result.rounds} rounds of {result.seconds} s.",
        show_legend=False,
        show_x_labels=False,
        print_labels=True,
        print_values_position="top",
        range=(0, 1.3 * rows[0].cost),  # leaves room for the label of the longest bar
        rounded_bars=3,
    )
    chart.add_xml_filter(_without_scripts)
    chart.x_labels = [row.name for row in rows]
    chart.add("user, µs", [{"value": row.user, "label": "", "color": row.color} for row in rows])
    lighter = [{"value": row.system, "label": row.label, "color": row.color} for row in rows]
    chart.add("system, µs", lighter)
    return bytes(chart.render())


class _Row(NamedTuple):
    name: str
    user: float
    system: float
    ratio: float | None

    @property
    def cost(self) -> float:
        return self.user + self.system

    @property
    def color(self) -> str:
        return _OTHER_COLOR if self.name in PEERS else _COLORS.get(self.name, _FLOOR_COLOR)

    @property
    def label(self) -> str:
        hidden = self.ratio is None or self.name == NGINX
        times = "" if hidden else f"  ({self.ratio:.{2 if (self.ratio or 0) < 10 else 0}f} × nginx)"
        return f"{self.cost:.1f}{times}"


def _without_scripts(svg: Element) -> Element:
    """pygal's scripts are for tooltips, which an image in a README does not have."""
    for definitions in svg.findall("defs"):
        for script in definitions.findall("script"):
            definitions.remove(script)
    return svg
