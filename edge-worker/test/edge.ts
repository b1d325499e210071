import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KVNamespace } from "@cloudflare/workers-types";
import { createTestHarness, unstable_readConfig as readConfig, type TestHarness } from "wrangler";
import type { CrowdVisitor, Seen } from "./clients-worker.ts";
import { edgeKeys, keySet } from "./keys.ts";
import type { Outcome, Traffic } from "./traffic-worker.ts";

export const root = join(import.meta.dirname, "../..");
export const wrangler = join(root, "edge-worker/node_modules/.bin/wrangler");

Object.assign(process.env, {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "false", // the keys of bin/up are not the tests' keys
});

let built: string | undefined;

/** The folder with the bundle as `wrangler deploy` would upload it. It is there as long as this process. */
export function bundle(): string {
  if (built !== undefined) return built;
  const folder = mkdtempSync(join(tmpdir(), "trendvault-bundle-"));
  process.once("exit", () => rmSync(folder, { recursive: true }));
  const command = ["deploy", "--dry-run", "--env=", "--outdir", folder];
  execFileSync(wrangler, command, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  built = folder;
  return folder;
}

type Visitor = {
  country?: string | undefined;
  headers?: Record<string, string>;
  method?: string;
  signal?: AbortSignal;
};

/** One data centre: workerd with the deployed bundle and its own caches, and ways to visit it. */
export class Edge {
  readonly #harness: TestHarness;
  #visits = 0;

  private constructor(harness: TestHarness) {
    this.#harness = harness;
  }

  /** `vars` replace variables of wrangler.toml. */
  static async start(originUrl: string, vars: Record<string, string> = {}): Promise<Edge> {
    const settings = { ORIGIN_URL: originUrl, ORIGIN_JWKS: keySet, ...vars };
    const configPath = join(root, "wrangler.toml");
    const secrets = { EDGE_KEYS: edgeKeys };
    const worker = { configPath, prebuiltWorkerDir: bundle(), vars: settings, secrets };
    const workers = [worker, { config: crowd }, { config: busy({ ...settings, ...secrets }) }];
    const harness = createTestHarness({ root, workers });
    await harness.listen();
    return new Edge(harness);
  }

  /** Visits from an address of its own. */
  fetch(target: string, { country, headers, ...visitor }: Visitor = {}) {
    const address = { "cf-connecting-ip": `192.0.2.${this.#visits++ % 256}` };
    const cf = (country === undefined ? {} : { country }) as { country?: "T1" }; // also codes its type lacks
    return this.#harness
      .getWorker("trendvault-edge")
      .fetch(`https://site.example${target}`, { ...visitor, headers: { ...address, ...headers }, cf });
  }

  /** Sends many visitors from within workerd, `atOnce` at a time. Gives what each saw, in order. */
  crowd(visitors: CrowdVisitor[], atOnce = 50): Promise<Seen[]> {
    return this.#post("crowd", { visitors, atOnce });
  }

  /** Visits from within the isolate, as fast as it goes. Its memory is another isolate's than the crowd's. */
  busy(traffic: Traffic): Promise<Outcome> {
    return this.#post("busy", traffic);
  }

  /** The KV namespace of the fallback, to read and to fill. */
  async fallbackStore(): Promise<KVNamespace> {
    const { FALLBACK } = await this.#harness.getWorker("trendvault-edge").getEnv();
    return FALLBACK;
  }

  /** What the Workers have logged. */
  logs(): string[] {
    return this.#harness.getLogs().map(({ message }) => message);
  }

  close(): Promise<void> {
    return this.#harness.close();
  }

  async #post<T>(worker: string, body: unknown): Promise<T> {
    const init = { method: "POST", body: JSON.stringify(body) };
    const response = await this.#harness.getWorker(worker).fetch("https://test.example/", init);
    return (await response.json()) as T;
  }
}

const {
  compatibility_date,
  kv_namespaces,
  ratelimits,
  vars: configured,
} = readConfig({
  config: join(root, "wrangler.toml"),
  env: "",
});

const crowd = {
  name: "crowd",
  main: join(import.meta.dirname, "clients-worker.ts"),
  compatibility_date,
  services: [{ binding: "EDGE", service: "trendvault-edge" }],
};

const busy = (vars: Record<string, string>) => ({
  name: "busy",
  main: join(import.meta.dirname, "traffic-worker.ts"),
  alias: { "the-deployed-bundle": join(bundle(), "main.js") },
  compatibility_date,
  kv_namespaces,
  ratelimits,
  vars: { ...configured, ...vars },
});
