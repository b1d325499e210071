type Step = [least: number, divisor: number, suffix: string];

const plain: Step[] = [
  [1e6, 1e6, "M"],
  [1e3, 1e3, "k"],
  [0, 1, ""],
];
const steps: Record<string, Step[]> = {
  s: [
    [86_400, 86_400, " d"],
    [3600, 3600, " h"],
    [60, 60, " min"],
    [1, 1, " s"],
    [0, 1e-3, " ms"],
  ],
  bytes: [
    [2 ** 30, 2 ** 30, " GiB"],
    [2 ** 20, 2 ** 20, " MiB"],
    [2 ** 10, 2 ** 10, " KiB"],
    [0, 1, " B"],
  ],
  percentunit: [[0, 0.01, " %"]],
  short: plain,
  reqps: withSuffix("/s"),
  ops: withSuffix("/s"),
};

/** A value with three figures, as Grafana writes values of a unit. @throws Error for a unit that no panel has yet */
export function formatValue(value: number, unit: string): string {
  const [, divisor, suffix] = stepOf(value, unit);
  return value === 0 ? "0" : `${Number((value / divisor).toPrecision(3))}${suffix}`;
}

/** The next of 1, 2, 5, 10, 20 … that is not below a value, counted in what it is written in; 1 for 0. */
export function endOfAxis(value: number, unit: string): number {
  if (value <= 0) return 1;
  const [, divisor] = stepOf(value, unit);
  const power = 10 ** Math.floor(Math.log10(value / divisor));
  return ([1, 2, 5, 10].find((factor) => factor * power * divisor >= value) ?? 10) * power * divisor;
}

function stepOf(value: number, unit: string): Step {
  const known = steps[unit];
  if (known === undefined)
    throw new Error(`${unit} is a unit that the picture cannot write: add it to format-value.ts`);
  return known.find(([least]) => Math.abs(value) >= least) ?? [0, 1, ""];
}

function withSuffix(suffix: string): Step[] {
  return plain.map(([least, divisor, prefix]) => [least, divisor, prefix + suffix]);
}
