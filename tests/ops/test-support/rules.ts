import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { YAML } from "bun";

const folder = resolve(import.meta.dir, "../../../ops");

export const rulesPath = resolve(folder, "prometheus/rules.yml");

export type Rule = {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
};

/** All alerts of rules.yml. */
export function readRules(): Rule[] {
  const { groups } = YAML.parse(readFileSync(rulesPath, "utf8")) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export function alertNames(): string[] {
  return readRules().map(({ alert }) => alert);
}

type Panel = {
  id: number;
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { uid: string };
  targets?: { refId: string; expr: string; legendFormat: string }[];
};

/** All panels of the dashboard, and the titles of its rows. */
export function readPanels(): Panel[] {
  return JSON.parse(readFileSync(resolve(folder, "grafana/trendvault.json"), "utf8")).panels;
}

export function dashboardQueries(): string[] {
  return readPanels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}
