import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { newFolder, until } from "@trendvault/kit/machine";
import { missingServer } from "@trendvault/kit/object-store";
import { childPids } from "@trendvault/kit/origin-process";
import { Random } from "@trendvault/kit/random";
import { YAML } from "bun";
import { type FollowingOrigin, PublishingSystem } from "../store/test-support/publishing-system.ts";

const toolsFolder = resolve(import.meta.dir, "../../.tools/bin");

/** Programs of Prometheus that `tools/setup/bring prometheus` brings. */
type Tool = "prometheus" | "promtool" | "prometheus-node-exporter" | "prometheus-blackbox-exporter";

function toolPath(tool: Tool): string {
  return resolve(toolsFolder, tool);
}

/** Why they are not here, or null. */
export function missingTools(): string | null {
  return existsSync(toolPath("promtool"))
    ? null
    : "Prometheus is not installed: `tools/setup/bring prometheus` says why it cannot be";
}

/** What it printed. @throws Error with that when it fails */
export async function run(tool: Tool, words: readonly string[], input = ""): Promise<string> {
  const child = Bun.spawn([toolPath(tool), ...words], {
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [printed, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${tool} ${words.join(" ")}:\n${printed}${said}`);
  return printed + said;
}

/** A program of Prometheus that listens on a port which the system chose, until it is stopped. */
class ToolServer {
  readonly #child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  readonly #address = Promise.withResolvers<string>();
  #said = "";

  constructor(tool: Tool, words: readonly string[]) {
    this.#child = Bun.spawn([toolPath(tool), "--web.listen-address=127.0.0.1:0", ...words], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    void this.#read();
    void this.#child.exited.then(() => this.#address.reject(new Error(`${tool} ended: ${this.#said}`)));
    this.#address.promise.catch(() => {}); // nobody may wait when it is stopped
  }

  /** Host and port, once it listens. @throws Error with what it said when it ends */
  address(): Promise<string> {
    return this.#address.promise;
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#said = (this.#said + text).slice(-5000);
      const address = /"?Listening on"? address=(\S+)/.exec(this.#said)?.[1];
      if (address !== undefined) this.#address.resolve(address);
    }
  }
}

const rulesFolder = resolve(import.meta.dir, "../../ops");

export const rulesPath = resolve(rulesFolder, "prometheus/rules.yml");

type Rule = {
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
  return JSON.parse(readFileSync(resolve(rulesFolder, "grafana/trendvault.json"), "utf8")).panels;
}

export function dashboardQueries(): string[] {
  return readPanels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

const settings = resolve(import.meta.dir, "../../ops/prometheus");

const pollMs = 100;
const sayAfterMs = 30_000;

/** Why no system can be watched here, or null. */
export function missingParts(): string | null {
  return missingTools() ?? missingServer();
}

/** A series at a moment. */
type Sample = { labels: Record<string, string>; value: number };

/**
 * The real parts (a writer that publishes and makes a backup, a store, a follower, an origin, an edge), scraped all the
 * time by a real Prometheus with the exporters and the settings of ops/.
 */
export class WatchedSystem {
  readonly #folder = newFolder("watched");
  readonly #metrics = join(this.#folder, "metrics");
  readonly #servers: ToolServer[] = [];
  /** The file with the keys of the edge, of which the origin answers those only. */
  readonly edgeKeys = join(this.#folder, "edge-keys");
  #prometheus = "";
  /** The addresses of the parts, by the sample configuration's. */
  #addresses: Record<string, string> = {};
  #parts: PublishingSystem | undefined;

  static async start(): Promise<WatchedSystem> {
    const system = new WatchedSystem();
    try {
      await system.#startAll();
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  get parts(): PublishingSystem {
    if (this.#parts === undefined) throw new Error("The system was not started");
    return this.#parts;
  }

  /** The follower, and the origin on its file. */
  get reader(): FollowingOrigin {
    const [reader] = this.parts.readers;
    if (reader === undefined) throw new Error("The system has no reader");
    return reader;
  }

  /** The origin's workers. */
  workerPids(): number[] {
    return childPids(this.reader.origin.pid, "worker");
  }

  /** What the writer leaves for the collector. */
  get writerMetrics(): string {
    return join(this.#metrics, "writer.prom");
  }

  get #followerMetrics(): string {
    return `${this.writerMetrics}.reader.prom`; // as PublishingSystem names it
  }

  /** Where spool files of the writer come from. */
  get spool(): string {
    return join(this.parts.folder, "spool");
  }

  /** What the writer and the follower leave for the collector, and what the origin answers. */
  async outputs(): Promise<Record<"writer" | "follower" | "origin", string>> {
    await until(() => existsSync(this.#followerMetrics)); // written every few seconds
    return {
      writer: readFileSync(this.writerMetrics, "utf8"),
      follower: readFileSync(this.#followerMetrics, "utf8"),
      origin: await (await fetch(`${this.reader.adminUrl}metrics`)).text(),
    };
  }

  /** The result of a query now. @throws Error with what Prometheus says of a wrong one */
  async query(expr: string): Promise<Sample[]> {
    const { result } = await this.#ask<{
      result: { metric: Record<string, string>; value: [number, string] }[];
    }>("query", { query: expr });
    return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  }

  /** Waits until a query gives so many series or more, or none for 0. Gives these. */
  async waitFor(expr: string, count = 1): Promise<Sample[]> {
    const isThere = ({ length }: Sample[]) => (count === 0 ? length === 0 : length >= count);
    const reminder = setTimeout(() => console.log(`Still waiting for ${count} series: ${expr}`), sayAfterMs);
    let given = await this.query(expr);
    for (; !isThere(given); given = await this.query(expr)) await Bun.sleep(pollMs);
    clearTimeout(reminder);
    return given;
  }

  /** The names of all series that were scraped. */
  metricNames(): Promise<string[]> {
    return this.#ask("label/__name__/values", {});
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) await server.stop();
    await this.#parts?.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async #startAll(): Promise<void> {
    mkdirSync(this.#metrics);
    writeFileSync(this.edgeKeys, `e1:${randomBytes(32).toString("base64url")}`, { mode: 0o600 });
    this.#parts = await PublishingSystem.start(new Random(), ["reader"], {
      METRICS_FILE: this.writerMetrics,
      BACKUP_URL: "s3://trendvault/backups",
      EDGE_KEYS: `file:${this.edgeKeys}`,
      STORE_TIMEOUT_SECONDS: "300", // a busy machine
    });
    const collectors = ["--collector.disable-defaults", "--collector.filesystem", "--collector.textfile"];
    const machine = await this.#serve("prometheus-node-exporter", [
      ...collectors,
      `--collector.textfile.directory=${this.#metrics}`,
    ]);
    const blackbox = await this.#serve("prometheus-blackbox-exporter", [
      `--config.file=${join(settings, "blackbox.yml")}`,
    ]);
    const config = join(this.#folder, "prometheus.yml");
    this.#addresses = {
      "origin:9464": new URL(this.reader.adminUrl).host,
      "node-exporter:9100": machine,
      "blackbox-exporter:9115": blackbox,
      "https://trending.example.com": this.parts.edgeUrl,
    };
    writeFileSync(config, this.#configure());
    const data = `--storage.tsdb.path=${join(this.#folder, "data")}`;
    this.#prometheus = `http://${await this.#serve("prometheus", [`--config.file=${config}`, data])}`;
    while (!(await fetch(`${this.#prometheus}/-/ready`)).ok) await Bun.sleep(pollMs); // it listens before that
  }

  async #serve(tool: ConstructorParameters<typeof ToolServer>[0], words: string[]): Promise<string> {
    const server = new ToolServer(tool, words);
    this.#servers.push(server);
    return server.address();
  }

  /** The sample configuration, with these addresses in the place of its own, and scraped each second. */
  #configure(): string {
    const replaced: Record<string, string> = {
      "scrape_interval: 15s": "scrape_interval: 2s",
      "evaluation_interval: 30s": "evaluation_interval: 1s",
      "[rules.yml]": `[${join(settings, "rules.yml")}]`,
      ...this.#addresses,
    };
    let text = readFileSync(join(settings, "prometheus.yml"), "utf8");
    for (const [sample, real] of Object.entries(replaced)) {
      if (!text.includes(sample)) throw new Error(`prometheus.yml has no ${sample} any more`);
      text = text.replaceAll(sample, real);
    }
    return text;
  }

  async #ask<Data>(path: string, parameters: Record<string, string>): Promise<Data> {
    const answer = await fetch(`${this.#prometheus}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { data, error } = (await answer.json()) as { data: Data; error?: string };
    if (error !== undefined) throw new Error(error);
    return data;
  }
}
