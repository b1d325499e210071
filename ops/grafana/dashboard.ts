import {
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { type PanelSpec, rows } from "./panels.ts";

const datasource = { type: "prometheus", uid: "$datasource" };
const panelsBeside = 4;
const wholeWidth = 24;
const panelHeight = 7;

/** The dashboard, as Grafana imports it. */
export function buildDashboard(): Dashboard {
  const dashboard = new DashboardBuilder("TrendVault")
    .uid("trendvault")
    .description(
      "What visitors get, and what it is made of. Alerts: ops/prometheus/rules.yml, docs/runbook.md.",
    )
    .tags(["trendvault"])
    .editable()
    .refresh("30s")
    .time({ from: "now-6h", to: "now" })
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"));
  let id = 0;
  for (const { title, panels } of rows) {
    dashboard.withRow(new RowBuilder(title).id(++id));
    for (const panel of panels) dashboard.withPanel(buildPanel(panel).id(++id));
  }
  return dashboard.build();
}

function buildPanel({ title, description, unit, queries, limit, max }: PanelSpec): PanelBuilder {
  const panel = new PanelBuilder()
    .title(title)
    .description(description)
    .datasource(datasource)
    .unit(unit)
    .min(0)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .span(wholeWidth / panelsBeside)
    .height(panelHeight);
  for (const [index, { expr, legend }] of queries.entries()) {
    const refId = String.fromCharCode("A".charCodeAt(0) + index);
    panel.withTarget(new DataqueryBuilder().expr(expr).legendFormat(legend).range().refId(refId));
  }
  if (max !== undefined) panel.max(max);
  return limit === undefined ? panel : panel.thresholds(redFrom(limit)).thresholdsStyle(asLine());
}

function redFrom(value: number): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { value: null, color: "green" },
    { value, color: "red" },
  ]);
}

function asLine(): GraphThresholdsStyleConfigBuilder {
  return new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed);
}
