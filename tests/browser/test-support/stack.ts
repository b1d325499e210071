import { after } from "node:test";
import { Edge } from "../../../edge-worker/test/edge.ts";
import { Origin } from "../../../edge-worker/test/origin.ts";
import { OriginProxy } from "../../../edge-worker/test/origin-proxy.ts";
import { drawPicture } from "../../../tools/up/demo-site/picture.ts";
import { catalogue } from "./catalogue.ts";
import { Database } from "./database.ts";
import { closeBrowser } from "./launch.ts";
import { type Answer, type Site, serveSite } from "./site.ts";

/** The writer's database, the origin, a proxy in front of it, the edge in workerd, and the videos' pictures. */
export class Stack {
  readonly database: Database;
  readonly origin: Origin;
  readonly proxy: OriginProxy;
  readonly edge: Edge;
  readonly pictures: Site;

  private constructor(parts: Pick<Stack, "database" | "origin" | "proxy" | "edge" | "pictures">) {
    this.database = parts.database;
    this.origin = parts.origin;
    this.proxy = parts.proxy;
    this.edge = parts.edge;
    this.pictures = parts.pictures;
  }

  static async start(): Promise<Stack> {
    const now = Date.now();
    const pictures = await serveSite("pictures", drawn);
    const database = new Database(catalogue(pictures.url, now), now);
    const origin = await Origin.start(database.path, { THUMB_HOSTS: pictures.host });
    const proxy = await OriginProxy.start(origin.url);
    const edge = await Edge.start(proxy.url);
    return new Stack({ database, origin, proxy, edge, pictures });
  }

  /** Publishes another generation. Resolves when the origin serves it. */
  async publish(): Promise<void> {
    const before = await this.#generation();
    this.database.run("rank");
    while ((await this.#generation()) === before) await new Promise((resume) => setTimeout(resume, 20));
  }

  async close(): Promise<void> {
    await this.edge.close();
    await this.proxy.stop();
    await this.origin.kill();
    await this.pictures.stop();
    this.database.remove();
  }

  async #generation(): Promise<number> {
    const response = await this.origin.fetch("/api/regions");
    return ((await response.json()) as { generation: number }).generation;
  }
}

let started: Promise<Stack> | undefined;

/** Started once for all tests of this process. A test that harms it starts its own. */
export function sharedStack(): Promise<Stack> {
  started ??= Stack.start();
  return started;
}

// All files run in one process: this is after the last of them.
after(async () => {
  await closeBrowser();
  await (await started)?.close();
});

function drawn(path: string): Answer | undefined {
  const [, category = "", id = "", width] = /^\/([a-z-]+)\/([\w-]+)\/(hq|sd)\.webp$/.exec(path) ?? [];
  const body = drawPicture(category, { id, width: width === "hq" ? 640 : 320 });
  return body === null ? undefined : { headers: { "content-type": "image/svg+xml" }, body };
}
