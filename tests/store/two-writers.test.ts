import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { windows } from "@trendvault/contract/lists";
import { newFolder, root, until, writerProgram } from "@trendvault/kit/machine";
import { missingServer, TestStore } from "@trendvault/kit/object-store";
import { OriginProcess } from "@trendvault/kit/origin-process";

const videosOfRegion = 60;
/** Every writer is given the counts of all of these. */
const countedRegions = ["GB", "IE", "DE", "FR"];

/** The real writer, which has some of the regions, and publishes into a place of its own. */
class RegionWriter {
  readonly database: string;
  readonly address: string;
  readonly #codes: string[];
  readonly #env: Record<string, string>;

  constructor(
    folder: string,
    store: TestStore,
    { name, codes, key }: { name: string; codes: string[]; key: string },
  ) {
    this.database = join(folder, `${name}.db`);
    this.address = `${store.address}-${name}`;
    this.#codes = codes;
    this.#env = {
      ...{ PATH: process.env.PATH ?? "", DB_PATH: this.database, REGIONS: codes.join(",") },
      ...{ PUBLISH_URL: this.address, PUBLISH_SIGNING_KEYS: key, ...store.settings },
    };
  }

  /** @throws Error with what it said when it fails */
  async run(words: string[], input = ""): Promise<string> {
    const child = Bun.spawn([writerProgram, ...words], {
      env: this.#env,
      stdin: new Blob([input]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(`writer ${words.join(" ")} failed: ${said}`);
    return printed;
  }

  /** Counts views in all regions, also in those of the other one, ranks and publishes. */
  async publish(): Promise<number> {
    const observed_at = new Date(Date.now() - 1000).toISOString().replace(/\.\d+/, "");
    const lines = countedRegions.flatMap((region) => this.#count(region, observed_at));
    await this.run(["ingest", "-"], lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await this.run(["rank"]);
    await this.run(["publish"]);
    using database = new Database(this.database, { readonly: true });
    return database.query<{ id: number }, []>("SELECT max(id) AS id FROM generations").get()?.id ?? 0;
  }

  get codes(): readonly string[] {
    return this.#codes;
  }

  #count(region: string, observed_at: string) {
    return Array.from({ length: videosOfRegion }, (_, index) => ({
      id: `${region}-${index}`,
      region,
      observed_at,
      views: 2000 + index,
      title: `Title ${index}`,
      channel: `Channel ${index}`,
      thumb_base: "https://thumbs.example/a",
      category: index % 2 === 1 ? "Music" : "Film",
    }));
  }
}

const timeoutMs = 1_200_000;

let folder: string;
let store: TestStore;
let british: RegionWriter;
let german: RegionWriter;
let follower: Bun.Subprocess;
let origin: OriginProcess;
let newest: { british: number; german: number };

const reason = missingServer();

beforeAll(async () => {
  if (reason !== null) return;
  folder = newFolder("two-writers");
  store = await TestStore.start();
  const key = (first: number) =>
    Buffer.from(Array.from({ length: 32 }, (_, index) => first + index)).toString("base64url");
  british = new RegionWriter(folder, store, { name: "gb", codes: ["GB", "IE"], key: key(1) });
  german = new RegionWriter(folder, store, { name: "de", codes: ["DE", "FR"], key: key(101) });
  for (const writer of [british, german]) await writer.run(["migrate"]);
  newest = { british: await british.publish(), german: await german.publish() };
  const followed = join(folder, "followed.db");
  follower = await follow(followed);
  await until(() => Bun.file(followed).size > 0);
  origin = await OriginProcess.start(followed);
  await served("DE", newest.german);
  await served("GB", newest.british);
}, timeoutMs);

afterAll(async () => {
  follower?.kill("SIGKILL");
  await origin?.remove();
  await store?.remove();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

async function follow(path: string): Promise<Bun.Subprocess> {
  const keys = await Promise.all(
    [british, german].map(async (writer) => JSON.parse(await writer.run(["publication-keys"])).keys),
  );
  const env = {
    PATH: process.env.PATH ?? "",
    ...store.settings,
    FOLLOW_JWKS: JSON.stringify({ keys: keys.flat() }),
  };
  const program = join(root, "api/follow/src/main.ts");
  const words = [british.address, german.address, "--database", path];
  return Bun.spawn([process.execPath, "--no-env-file", program, ...words], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

// biome-ignore lint/suspicious/noExplicitAny: what is read of it is compared
async function read(target: string): Promise<any> {
  const response = await fetch(new URL(target, origin.url), { headers: { connection: "close" } });
  return { status: response.status, ...((await response.json()) as object) };
}

async function served(region: string, generation: number): Promise<void> {
  await until(async () => (await read(`/api/trending?region=${region}`)).generation === generation);
}

test.skipIf(reason !== null)(
  `all lists of both are served, each with its own generation (${reason ?? "there is an S3 server"})`,
  async () => {
    expect(newest).toEqual({ british: 256, german: 1 });
    for (const [writer, generation] of [
      [british, newest.british],
      [german, newest.german],
    ] as const) {
      for (const region of writer.codes) {
        for (const window of windows) {
          const list = await read(`/api/trending?region=${region}&window=${window}&limit=50`);
          expect(list).toMatchObject({ region, generation, total: videosOfRegion, count: 50 });
          expect(await read(list.next)).toMatchObject({
            region,
            generation,
            count: videosOfRegion - 50,
            next: null,
          });
          const music = await read(`/api/trending?region=${region}&window=${window}&category=Music`);
          expect(music).toMatchObject({ generation, total: videosOfRegion / 2 });
        }
        const explained = await read(`/api/videos/${region}-3/explain?region=${region}`);
        expect(explained).toMatchObject({ generation, place: { total: videosOfRegion } });
        const { trending } = await read(`/api/videos/${region}-3`);
        expect(new Set(trending.map((place: { region: string }) => place.region))).toEqual(new Set([region]));
      }
    }
    expect((await read("/api/trending?region=ES")).status).toBe(404);
    await until(async () => (await origin.readiness()).status === "ok");
  },
  timeoutMs,
);
