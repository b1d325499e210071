import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { type AlertCase, alertCases, begin } from "./alert-cases.ts";
import { healthySystem, type Series, type Value } from "./healthy-system.ts";
import { alertNames, missingTools, rulesPath, run } from "./watched-system.ts";

setDefaultTimeout(1_200_000); // a process for each case, on a busy machine
const missing = missingTools();

test("each alert has a case that makes it fire", () => {
  const tried = new Set(alertCases.map(({ alert }) => alert));
  expect(alertNames().filter((name) => !tried.has(name))).toEqual([]);
  expect([...tried].filter((name) => !alertNames().includes(name))).toEqual([]);
});

test.each(alertCases.map((one) => [one.fault, one] as const))(
  "%s: series of the case are those of the healthy system, or new",
  (_, { broken }) => {
    const known = Object.keys(healthySystem).map(metricOf);
    for (const name of Object.keys(broken)) expect(known.concat(appearing)).toContain(metricOf(name));
  },
);

describe.skipIf(missing !== null)(`with promtool${missing === null ? "" : ` (${missing})`}`, () => {
  test("promtool finds no fault in the rules", async () => {
    expect(await run("promtool", ["check", "rules", "--lint=all", "--lint-fatal", rulesPath])).toContain(
      "SUCCESS",
    );
  });

  test("the configurations to start from are taken as they are", async () => {
    const folder = dirname(rulesPath);
    expect(await run("promtool", ["check", "config", join(folder, "prometheus.yml")])).toContain("SUCCESS");
    const blackbox = [`--config.file=${join(folder, "blackbox.yml")}`, "--config.check"];
    expect(await run("prometheus-blackbox-exporter", blackbox)).toContain("Config file is ok");
  });

  test.each(alertCases.map((one) => [one.alert, one.fault, one] as const))(
    "%s fires when %s, and nothing else does; not before, and not after",
    async (_alert, _fault, one) => {
      const folder = newFolder("alerts");
      try {
        const path = join(folder, "case.json"); // JSON is YAML
        writeFileSync(path, JSON.stringify(testFile(one)));
        expect(await run("promtool", ["test", "rules", path])).toContain("SUCCESS");
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});

/** Series that are there only while something is wrong. */
const appearing = ["trendvault_writer_source_retry_timestamp_seconds", "trendvault_requests_total"];

/** What promtool reads: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/ */
function testFile({ alert, broken, quiet, firing, over = 1, also = [] }: AlertCase) {
  const end = begin + firing;
  const minutes = Array.from({ length: end + over + 2 }, (_, minute) => minute);
  const series: Series = { ...healthySystem, ...broken };
  return {
    rule_files: [rulesPath],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: Object.keys(series).map((name) => ({
          series: name,
          values: minutes.map((minute) => sample(name, { broken, minute, end })).join(" "),
        })),
        promql_expr_test: [
          firingAt(begin - 1, []),
          firingAt(begin + quiet, []),
          firingAt(end, [alert, ...also]),
          firingAt(end + over, []),
        ],
      },
    ],
  };
}

function sample(name: string, { broken, minute, end }: { broken: Series; minute: number; end: number }) {
  const isBroken = minute >= begin && minute <= end;
  const value: Value | undefined = (isBroken ? broken[name] : undefined) ?? healthySystem[name];
  return value?.(minute) ?? "_";
}

function firingAt(minute: number, alerts: readonly string[]) {
  return {
    expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${minute}m`,
    exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  };
}

function metricOf(series: string): string {
  return series.slice(0, series.indexOf("{"));
}
