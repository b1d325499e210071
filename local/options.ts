import { resolve } from "node:path";
import { parseArgs } from "node:util";

export type Options = {
  /** Absolute path of the NDJSON file or folder that fills an empty database; null for the demo source. */
  source: string | null;
  /** Absolute path of the database file. */
  db: string;
  port: number;
  /** Whether the edge runs in front of the origin, and where. */
  edge: boolean;
  edgePort: number;
  /** Absolute path of the file with the local keys. */
  envFile: string;
  fresh: boolean;
  help: boolean;
};

export const usage = `bin/up [--source FILE|DIR] [--db PATH] [--port N] [--edge-port N | --no-edge] [--env-file PATH] [--fresh]

Installs what is missing, then runs TrendVault on this machine: fills an empty database, ranks it,
starts the origin and the edge, and runs the writer every minute. Ctrl-C stops everything it started.

  --source FILE|DIR  fill an empty database from NDJSON observations (plain or .gz), moved in time so
                     that the newest is now, instead of from the demo source
  --db PATH          the database file (default data/trendvault.db)
  --port N           the origin's port (default 3000)
  --edge-port N      the edge's port (default 8787)
  --no-edge          leave the edge out; the origin then answers every client (with an edge, only that)
  --env-file PATH    the file with the local keys, made when it is missing (default .env)
  --fresh            delete the database first and fill it again
  --help             this text
`;

/** Paths are resolved against `cwd`; `root` is the project's folder. Throws an Error that says what was expected. */
export function parseOptions(argv: readonly string[], { cwd, root }: { cwd: string; root: string }): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      source: { type: "string" },
      db: { type: "string" },
      port: { type: "string", default: "3000" },
      "edge-port": { type: "string", default: "8787" },
      "no-edge": { type: "boolean", default: false },
      "env-file": { type: "string" },
      fresh: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const [port, edgePort] = [parsePort(values.port, "--port"), parsePort(values["edge-port"], "--edge-port")];
  const edge = !values["no-edge"];
  if (edge && port === edgePort)
    throw new Error(`--port and --edge-port are both ${port}: expected two ports`);
  return {
    source: values.source === undefined ? null : resolve(cwd, values.source),
    db: values.db === undefined ? resolve(root, "data/trendvault.db") : resolve(cwd, values.db),
    port,
    edge,
    edgePort,
    envFile: values["env-file"] === undefined ? resolve(root, ".env") : resolve(cwd, values["env-file"]),
    fresh: values.fresh,
    help: values.help,
  };
}

function parsePort(text: string, option: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 1 && port <= 65535) return port;
  throw new Error(`${option} is "${text}": expected a whole number from 1 to 65535`);
}
