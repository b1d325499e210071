import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KVNamespace } from "@cloudflare/workers-types";
import { createTestHarness, type TestHarness } from "wrangler";
import type { CrowdVisitor, Seen } from "./crowd-worker.ts";
import { edgeKeys, keySet } from "./keys.ts";

const root = join(import.meta.dirname, "../..");
const wrangler = join(root, "edge-worker/node_modules/.bin/wrangler");

Object.assign(process.env, {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
});

let built: string | undefined;

/** The folder with the bundle as `wrangler deploy` would upload it. */
export function bundle(): string {
  if (built !== undefined) return built;
  built = mkdtempSync(join(tmpdir(), "trendvault-bundle-"));
  execFileSync(wrangler, ["deploy", "--dry-run", "--outdir", built], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return built;
}

type Visitor = {
  country?: string | undefined;
  headers?: Record<string, string>;
  method?: string;
  body?: string;
};

/** One data centre: workerd with the deployed bundle, its own cache, and a crowd that visits it. */
export class Edge {
  readonly #harness: TestHarness;

  private constructor(harness: TestHarness) {
    this.#harness = harness;
  }

  static async start(originUrl: string, vars: Record<string, string> = {}): Promise<Edge> {
    const harness = createTestHarness({
      root,
      workers: [
        {
          configPath: join(root, "wrangler.toml"),
          prebuiltWorkerDir: bundle(),
          vars: { ORIGIN_URL: originUrl, ORIGIN_JWKS: keySet, ...vars },
          secrets: { EDGE_KEYS: edgeKeys },
        },
        {
          config: {
            name: "crowd",
            main: join(import.meta.dirname, "crowd-worker.ts"),
            compatibility_date: "2026-11-17",
            services: [{ binding: "EDGE", service: "trendvault-edge" }],
          },
        },
      ],
    });
    await harness.listen();
    return new Edge(harness);
  }

  fetch(target: string, { country, ...visitor }: Visitor = {}) {
    const cf = (country === undefined ? {} : { country }) as { country?: "T1" }; // also codes its type lacks
    return this.#harness
      .getWorker("trendvault-edge")
      .fetch(`https://site.example${target}`, { ...visitor, cf });
  }

  /** Sends many visitors from within workerd, `atOnce` at a time. Gives what each saw, in order. */
  async crowd(visitors: CrowdVisitor[], atOnce = 50): Promise<Seen[]> {
    const crowd = this.#harness.getWorker("crowd");
    const response = await crowd.fetch("https://crowd.example/", {
      method: "POST",
      body: JSON.stringify({ visitors, atOnce }),
    });
    return (await response.json()) as Seen[];
  }

  /** The key-value store of last resort, to look into and to fill. */
  async lastResort(): Promise<KVNamespace> {
    const { LAST_RESORT } = await this.#harness.getWorker("trendvault-edge").getEnv();
    return LAST_RESORT;
  }

  close(): Promise<void> {
    return this.#harness.close();
  }
}
