import xml.etree.ElementTree as ElementTree
from typing import Any

from loadtest.charts import draw_endurance


def test_the_chart_of_a_run_has_a_panel_for_each_figure_and_keeps_its_peaks() -> None:
    fields = [f"{site}{what}" for site in ("origin", "edge") for what in ("Megabytes", "Handles")]
    fields += ["databaseMegabytes", "walMegabytes"]
    samples: list[dict[str, Any]] = [{"second": 5 * n, **dict.fromkeys(fields, 7)} for n in range(1000)]
    samples[501]["originMegabytes"] = 4321
    minutes = [{"minute": n, "site": site, "p99": 2.5} for n in range(20) for site in ("origin", "edge")]
    svg = draw_endurance({"samples": samples, "minutes": minutes, "events": [{"second": 90}]}).decode()
    panels = ElementTree.fromstring(svg).findall("{*}svg")
    texts = ["".join(panel.itertext()) for panel in panels]
    titles = ("Resident memory, MB", "Open handles", "Database, MB", "p99, ms")
    assert [title in text for title, text in zip(titles, texts, strict=True)] == [True] * 4
    assert ["4000" in text for text in texts] == [True, False, False, False]
    assert all("event" in text for text in texts)
    assert "<script" not in svg
    assert "prefers-color-scheme:dark" in svg
