import { resolve } from "node:path";
import { parseArgs } from "node:util";

export type Options = ReturnType<typeof parseOptions>;

/**
 * Paths are resolved against `cwd`; `root` is the project's folder.
 *
 * @throws Error that says what was expected
 */
export function parseOptions(argv: readonly string[], { cwd, root }: { cwd: string; root: string }) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      source: { type: "string" },
      db: { type: "string" },
      port: { type: "string", default: "3000" },
      "admin-port": { type: "string", default: "9464" },
      "edge-port": { type: "string", default: "8787" },
      "demo-port": { type: "string", default: "8790" },
      "no-edge": { type: "boolean", default: false },
      "no-origin": { type: "boolean", default: false },
      visitors: { type: "string" },
      regions: { type: "string" },
      "env-file": { type: "string" },
      fresh: { type: "boolean", default: false },
    },
  });
  const port = parsePort(values.port, "--port");
  const adminPort = parsePort(values["admin-port"], "--admin-port");
  const edgePort = parsePort(values["edge-port"], "--edge-port");
  const demoPort = parsePort(values["demo-port"], "--demo-port");
  const [origin, edge] = [!values["no-origin"], !values["no-edge"]];
  if (!origin && !edge)
    throw new Error("--no-origin and --no-edge leave nothing that answers: expected one of them");
  const ports = [
    { option: "--port", port, isUsed: origin },
    { option: "--admin-port", port: adminPort, isUsed: origin },
    { option: "--edge-port", port: edgePort, isUsed: edge },
    { option: "--demo-port", port: demoPort, isUsed: values.source === undefined },
  ];
  assertDifferent(ports.filter(({ isUsed }) => isUsed));
  if (values.regions !== undefined && values.db === undefined)
    throw new Error("--regions needs a database of its own: expected --db PATH, too");
  return {
    /** Path of the NDJSON file or folder that fills an empty database; null for the demo source. */
    source: values.source === undefined ? null : resolve(cwd, values.source),
    db: values.db === undefined ? resolve(root, "data/trendvault.db") : resolve(cwd, values.db),
    port,
    /** Whether an origin runs. Without one, the writer publishes into a store that the edge reads. */
    origin,
    /** Whether the edge runs in front of the origin, and where. */
    edge,
    edgePort,
    /** Where the origin's metrics and readiness are. */
    adminPort,
    /** Where the pictures of the demo's videos are. */
    demoPort,
    /** Simulated visitors a second, who look at lists and open videos; none over own data, unless told. */
    visitors: edge ? parseVisitors(values.visitors ?? (values.source === undefined ? "5" : "0")) : 0,
    /** Path of the file with the regions; null for those that come with the program. */
    regions: values.regions === undefined ? null : resolve(cwd, values.regions),
    /** Path of the file with the local keys. */
    envFile: values["env-file"] === undefined ? resolve(root, ".env") : resolve(cwd, values["env-file"]),
    fresh: values.fresh,
  };
}

function assertDifferent(ports: readonly { option: string; port: number }[]): void {
  for (const [index, { option, port }] of ports.entries()) {
    const same = ports.slice(0, index).find((other) => other.port === port);
    if (same !== undefined)
      throw new Error(`${same.option} and ${option} are both ${port}: expected two ports`);
  }
}

function parseVisitors(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new Error(`--visitors is "${text}": expected a whole number from 0 to 999, of visits a second`);
}

function parsePort(text: string, option: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 1 && port <= 65535) return port;
  throw new Error(`${option} is "${text}": expected a whole number from 1 to 65535`);
}
