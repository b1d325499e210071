import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { KVNamespace, R2Bucket } from "@cloudflare/workers-types";
import { createTestHarness, unstable_readConfig as readConfig, type TestHarness } from "wrangler";
import type { ClientRequest, ClientResult } from "./fetch-many-worker.ts";
import { edgeKeys, keySet } from "./keys.ts";
import { newFolder, root } from "./machine.ts";
import type { RecordedRequest, Recording } from "./recording-worker.ts";
import type { Traffic, TrafficResult } from "./traffic-worker.ts";

export const wrangler = join(root, "edge-worker/node_modules/.bin/wrangler");

Object.assign(process.env, {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "false", // the keys of bin/up are not the tests' keys
});

const built = new Map<string | undefined, string>();

/**
 * The folder with the bundle as `wrangler deploy` would upload it. It is there as long as this process. The regions are
 * those of a file, where one is given.
 */
export function bundle(regionsFile?: string): string {
  const known = built.get(regionsFile);
  if (known !== undefined) return known;
  const folder = newFolder("edge-bundle");
  const alias =
    regionsFile === undefined ? [] : ["--alias", `@trendvault/contract/default-regions:${regionsFile}`];
  const command = ["deploy", "--dry-run", "--env=", "--outdir", folder, ...alias];
  execFileSync(wrangler, command, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  built.set(regionsFile, folder);
  return folder;
}

type ClientOptions = {
  body?: string | Uint8Array;
  country?: string | undefined;
  headers?: Record<string, string>;
  method?: string;
  redirect?: "manual";
  signal?: AbortSignal;
};

/** One data centre: workerd with the deployed bundle and its own caches, and ways to send requests to it. */
export class Edge {
  /** Where it listens for other programs, without a slash at its end: all of them are one visitor. */
  readonly url: string;
  readonly #harness: TestHarness;
  #requests = 0;

  private constructor(harness: TestHarness, url: string) {
    this.#harness = harness;
    this.url = url;
  }

  /**
   * `vars` replace variables of wrangler.toml. A busy machine has time: only tests of the timeout shorten it. The regions
   * are those of a file, where one is given.
   */
  static async start(
    originUrl: string,
    vars: Record<string, string> = {},
    regionsFile?: string,
  ): Promise<Edge> {
    const settings = { ORIGIN_URL: originUrl, ORIGIN_JWKS: keySet, ORIGIN_TIMEOUT_SECONDS: "20", ...vars };
    const configPath = join(root, "wrangler.toml");
    const secrets = { EDGE_KEYS: edgeKeys };
    const worker = { configPath, prebuiltWorkerDir: bundle(regionsFile), vars: settings, secrets };
    const isolates = ["traffic", "recording"].map((name) => ({
      config: isolate(name, { ...settings, ...secrets }),
    }));
    const workers = [worker, { config: fetchMany }, ...isolates];
    const harness = createTestHarness({ root, workers });
    const { url } = await harness.listen();
    return new Edge(harness, url.origin);
  }

  /** Sends a request from an address of its own. */
  async fetch(target: string, { country, headers, ...options }: ClientOptions = {}) {
    const address = { "cf-connecting-ip": `192.0.2.${this.#requests++ % 256}` };
    const cf = (country === undefined ? {} : { country }) as { country?: "T1" }; // also codes its type lacks
    const init = { ...options, headers: { ...address, ...headers }, cf };
    const send = () =>
      this.#harness.getWorker("trendvault-edge").fetch(`https://site.example${target}`, init);
    return wholeOf(await (init.signal === undefined ? onOpenConnection(send) : send()));
  }

  /** Sends a request as Cloudflare does: to the static assets first, and to the Worker when there is none. */
  async fetchFromOutside(target: string): Promise<Response> {
    return wholeOf(await this.#harness.fetch(target));
  }

  /** Sends requests from within workerd, `concurrency` at a time. Gives the results, in order. */
  fetchMany(requests: ClientRequest[], concurrency = 50): Promise<ClientResult[]> {
    return this.#post("fetch-many", { requests, concurrency });
  }

  /** Sends traffic from within an isolate of its own, as fast as it goes. */
  runTraffic(traffic: Traffic): Promise<TrafficResult> {
    return this.#post("traffic", traffic);
  }

  /** Sends requests one after the other within an isolate of its own. Gives what the Worker read of each. */
  record(requests: RecordedRequest[]): Promise<Recording[]> {
    return this.#post("recording", requests);
  }

  /** The KV namespace of the fallback, to read and to fill. */
  async fallbackStore(): Promise<KVNamespace> {
    const { FALLBACK } = await this.#harness.getWorker("trendvault-edge").getEnv();
    return FALLBACK;
  }

  /** The bucket of bundles, to fill. */
  async bundles(): Promise<R2Bucket> {
    const { BUNDLES } = await this.#harness.getWorker("trendvault-edge").getEnv();
    return BUNDLES;
  }

  /** The rows of a query in a shard's SQLite. */
  async query<Row>(shard: string, sql: string, ...values: (string | number)[]): Promise<Row[]> {
    const worker = this.#harness.getWorker("trendvault-edge");
    const storage = await worker.getDurableObjectStorage("ViewCounter", { name: shard });
    return (await storage.exec(sql, ...values)) as Row[];
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
    const send = () => this.#harness.getWorker(worker).fetch("https://test.example/", init);
    const response = await onOpenConnection(send);
    return (await response.json()) as T;
  }
}

/** The harness's own connection, when it was idle for seconds, may be closed while it is used again: then it sends again. */
function onOpenConnection<T>(send: () => Promise<T>): Promise<T> {
  return send().catch((error: unknown) => (error instanceof TypeError ? send() : Promise.reject(error)));
}

type AnyResponse = {
  status: number;
  headers: Iterable<[string, string]>;
  arrayBuffer: () => Promise<ArrayBuffer>;
};

/** The response with its body, whether a test reads that or not: the harness waits for bodies at its end. */
async function wholeOf(response: AnyResponse): Promise<Response> {
  const { status, headers } = response;
  const body = await response.arrayBuffer();
  return new Response([204, 304].includes(status) ? null : body, { status, headers: [...headers] });
}

const {
  compatibility_date,
  durable_objects,
  kv_namespaces,
  r2_buckets,
  ratelimits,
  vars: configured,
} = readConfig({
  config: join(root, "wrangler.toml"),
  env: "",
});

const fetchMany = {
  name: "fetch-many",
  main: join(import.meta.dirname, "fetch-many-worker.ts"),
  compatibility_date,
  services: [{ binding: "EDGE", service: "trendvault-edge" }],
};

/** A Worker that imports the deployed bundle, with the bindings that the bundle needs. */
const isolate = (name: string, vars: Record<string, string>) => ({
  name,
  main: join(import.meta.dirname, `${name}-worker.ts`),
  alias: { "the-deployed-bundle": join(bundle(), "main.js") },
  compatibility_date,
  kv_namespaces,
  r2_buckets,
  ratelimits,
  durable_objects: {
    bindings: durable_objects.bindings.map((binding: object) => ({
      ...binding,
      script_name: "trendvault-edge",
    })),
  },
  vars: { ...configured, ...vars },
});
