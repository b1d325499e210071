"""The chart that the README shows: CPU per request, default page. Readable on light and dark pages."""

from pathlib import Path
from xml.etree.ElementTree import Element

import pygal
from pygal.style import Style

from bench.result import BenchResult
from bench.servers import NGINX, ORIGIN

_COLORS = {ORIGIN: "#2f81f7", NGINX: "#2da44e"}
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
    cpu, ratio = plain.header.index("CPU us"), plain.header.index("x nginx")
    rows = [(name, cells[cpu] or 0.0, cells[ratio]) for name, cells in plain.rows]
    rows.sort(key=lambda row: -row[1])  # pygal draws from the bottom up
    chart = pygal.HorizontalBar(
        width=720,
        height=110 + 32 * len(rows),
        css=(f"file://{_CSS}",),
        style=_STYLE,
        js=(),
        title=_TITLE,
        x_title="nginx and TrendVault send finished bytes; the others build them.\n"
        f"One core of {result.machine['cpu']} serves; "
        f"median of {result.rounds} rounds of {result.seconds} s.",
        show_legend=False,
        show_x_labels=False,
        print_labels=True,
        print_values_position="top",
        range=(0, 1.3 * rows[0][1]),  # leaves room for the label of the longest bar
        rounded_bars=3,
    )
    chart.add_xml_filter(_without_scripts)
    chart.x_labels = [name for name, _, _ in rows]
    chart.add("CPU per request, µs", [_bar(*row) for row in rows])
    return bytes(chart.render())


def _bar(name: str, cost: float, ratio: float | None) -> dict[str, object]:
    times = "" if ratio is None or name == NGINX else f"  ({ratio:.{2 if ratio < 10 else 0}f} × nginx)"
    return {"value": cost, "label": f"{cost:.1f}{times}", "color": _COLORS.get(name, _OTHER_COLOR)}


def _without_scripts(svg: Element) -> Element:
    """pygal's scripts are for tooltips, which an image in a README does not have."""
    for definitions in svg.findall("defs"):
        for script in definitions.findall("script"):
            definitions.remove(script)
    return svg
