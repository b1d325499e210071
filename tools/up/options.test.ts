import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseOptions } from "./options.ts";

const places = { cwd: "/home/somebody", root: "/srv/trendvault" };

test("without arguments the demo source fills data/trendvault.db, with the edge in front", () => {
  expect(parseOptions([], places)).toEqual({
    source: null,
    db: "/srv/trendvault/data/trendvault.db",
    port: 3000,
    origin: true,
    edge: true,
    edgePort: 8787,
    adminPort: 9464,
    demoPort: 8790,
    visitors: 5,
    envFile: "/srv/trendvault/.env",
    fresh: false,
    regions: null,
  });
});

test("paths are taken from where the command was typed", () => {
  const options = parseOptions(["--source", "views.ndjson.gz", "--db=x.db", "--env-file=k.env"], places);
  expect(options).toMatchObject({
    source: "/home/somebody/views.ndjson.gz",
    db: "/home/somebody/x.db",
    envFile: "/home/somebody/k.env",
  });
});

test.each(["0", "65536", "http", "3e3", ""])("--port %p is refused with the range", (port) => {
  expect(() => parseOptions([`--port=${port}`], places)).toThrow("from 1 to 65535");
});

test.each(["-1", "1000", "many", ""])("--visitors %p is refused with the range", (visitors) => {
  expect(() => parseOptions([`--visitors=${visitors}`], places)).toThrow("from 0 to 999");
});

test("nobody simulated visits data of one's own, unless asked", () => {
  expect(parseOptions(["--source", "x.ndjson"], places).visitors).toBe(0);
  expect(parseOptions(["--source", "x.ndjson", "--visitors", "2"], places).visitors).toBe(2);
});

test("regions without a database of their own are refused", () => {
  expect(() => parseOptions(["--regions", "own.json"], places)).toThrow("expected --db PATH, too");
});

test("without the edge nobody visits", () => {
  expect(parseOptions(["--no-edge"], places).visitors).toBe(0);
});

test("without origin and without edge is refused", () => {
  expect(() => parseOptions(["--no-origin", "--no-edge"], places)).toThrow("leave nothing that answers");
});

test("an unknown option is refused by name", () => {
  expect(() => parseOptions(["--sauce", "x"], places)).toThrow("--sauce");
});

test("one port for two services is refused, unless one of them is left out", () => {
  expect(() => parseOptions(["--port=8787"], places)).toThrow("--port and --edge-port are both 8787");
  expect(parseOptions(["--port=8787", "--no-edge"], places).port).toBe(8787);
  expect(parseOptions(["--port=8787", "--no-origin"], places).edgePort).toBe(8787);
  expect(() => parseOptions(["--edge-port=8790"], places)).toThrow(
    "--edge-port and --demo-port are both 8790",
  );
  expect(() => parseOptions(["--edge-port=9464"], places)).toThrow(
    "--admin-port and --edge-port are both 9464",
  );
  expect(parseOptions(["--edge-port=9464", "--no-origin"], places).edgePort).toBe(9464);
  expect(parseOptions(["--edge-port=8790", "--source=x"], places).edgePort).toBe(8790);
});

test("every option of the usage is accepted", () => {
  const usage = readFileSync(join(import.meta.dir, "usage.txt"), "utf8");
  const options = [...usage.matchAll(/^ {2}(--\S+)( [A-Z])?/gm)].filter(([, name]) => name !== "--help");
  expect(options).toHaveLength(12);
  for (const [, name = "", value] of options) {
    expect(() => parseOptions(["--db=x.db", ...(value ? [name, "400"] : [name])], places)).not.toThrow();
  }
});

test("the admin port is the one that .env.example names", () => {
  const example = readFileSync(join(import.meta.dir, "../../.env.example"), "utf8");
  expect(example).toContain(`\nADMIN_PORT=${parseOptions([], places).adminPort}\n`);
});
