import { Database } from "bun:sqlite";
import { join, resolve } from "node:path";
import type { TestStore } from "@trendvault/kit/object-store";

const root = resolve(import.meta.dir, "../../..");
export const videosOfRegion = 60;
/** Every writer is given the counts of all of these. */
const countedRegions = ["GB", "IE", "DE", "FR"];

/** The real writer, which has some of the regions, and publishes into a place of its own. */
export class RegionWriter {
  readonly database: string;
  readonly address: string;
  readonly #codes: string[];
  readonly #env: Record<string, string>;
  #views = 1000;

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
    const child = Bun.spawn([join(root, "writer/bin/writer"), ...words], {
      env: this.#env,
      stdin: new Blob([input]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(`writer ${words.join(" ")} failed: ${said}`);
    return printed;
  }

  /** Counts views in all regions, also in those of the other one, ranks (as of a time, if one is given) and publishes. */
  async publish(at?: string): Promise<number> {
    this.#views += 1000;
    const observed_at = new Date(Date.now() - 1000).toISOString().replace(/\.\d+/, "");
    const lines = countedRegions.flatMap((region) => this.#count(region, observed_at));
    await this.run(["ingest", "-"], lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await this.run(at === undefined ? ["rank"] : ["rank", "--at", at]);
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
      views: this.#views + index,
      title: `Title ${index}`,
      channel: `Channel ${index}`,
      thumb_base: "https://thumbs.example/a",
      category: index % 2 === 1 ? "Music" : "Film",
    }));
  }
}
