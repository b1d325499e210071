import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { YAML } from "bun";

const folder = resolve(import.meta.dir, "../../../ops/prometheus");

export const rulesPath = resolve(folder, "rules.yml");

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
