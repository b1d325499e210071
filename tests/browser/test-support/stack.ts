import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { builtInRegions, regions, type Site as SiteData } from "@trendvault/contract/regions";
import { Edge } from "@trendvault/kit/edge";
import { newFolder, until, writerProgram } from "@trendvault/kit/machine";
import { EdgeOrigin } from "@trendvault/kit/origin-process";
import { OriginProxy } from "@trendvault/kit/origin-proxy";
import { drawPicture } from "../../../tools/up/demo-site.ts";
import { type Answer, closeBrowser, type Site, serveSite } from "./visit.ts";

/** The writer's database, the origin, a proxy in front of it, the edge in workerd, and the videos' pictures. */
export class Stack {
  readonly database: Database;
  readonly origin: EdgeOrigin;
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
    const origin = await EdgeOrigin.start(database.path, {
      THUMBNAIL_HOSTS: pictures.host,
      REGIONS_FILE: database.siteFile,
    });
    const proxy = await OriginProxy.start(origin.url);
    const edge = await Edge.start(proxy.url, {}, database.edgeFile);
    return new Stack({ database, origin, proxy, edge, pictures });
  }

  /** Publishes another generation. Resolves when the origin serves it. */
  async publish(): Promise<void> {
    const before = await this.#generation();
    this.database.run("rank");
    await until(async () => (await this.#generation()) !== before);
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

const hourMs = 3_600_000;

/** What the origin is told of its site, beside the built-in regions. */
const testSite: SiteData = {
  name: "Kanal Eins",
  colours: { light: { accent: "#00629b" }, dark: { accent: "#7cc7ff" } },
  public_url: "https://trending.example/",
  imprint_url: "https://site.example/imprint",
  privacy_url: "https://site.example/privacy",
  report_url: "https://site.example/report/{id}",
};

/** The words that the guide shows. */
const guide = readFileSync(join(import.meta.dirname, "../../../docs/regions.md"), "utf8");
const [, hebrew = ""] = /```json\n(\{\n {2}"dir": "rtl".*?)```/s.exec(guide) ?? [];

/** A database that the real writer filled, and what it does to it. */
class Database {
  readonly #folder = newFolder("browser");
  readonly path = join(this.#folder, "trendvault.db");
  /** Of the origin, and of the edge, which needs no more of the languages than their names. */
  readonly siteFile = join(this.#folder, "site.json");
  readonly edgeFile = join(this.#folder, "edge-regions.json");

  /** With a list of an hour ago and one of now, each made of what was counted until then. */
  constructor(lines: readonly Line[], now: number) {
    const languages = { he: "he.json" };
    writeFileSync(join(this.#folder, languages.he), hebrew);
    writeFileSync(this.siteFile, JSON.stringify({ site: testSite, languages }));
    writeFileSync(this.edgeFile, JSON.stringify({ ...builtInRegions, languages }));
    const isEarlier = ({ observed_at }: Line) => Date.parse(observed_at) <= now - hourMs;
    this.run("migrate");
    this.ingest(lines.filter(isEarlier));
    this.run("rank", "--at", new Date(now - hourMs).toISOString().replace(/\.\d+Z$/, "Z"));
    this.ingest(lines.filter((line) => !isEarlier(line)));
    this.run("rank");
  }

  ingest(lines: readonly object[]): void {
    this.#write(["ingest", "-"], lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  /** Runs a command of the writer. */
  run(...words: string[]): void {
    this.#write(words, "");
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #write(words: readonly string[], input: string): void {
    execFileSync(writerProgram, [...words, "--db", this.path], { input, stdio: ["pipe", "ignore", "pipe"] });
  }
}

/** A line of the writer's input (docs/observations.md). */
type Line = { id: string; region: string; observed_at: string; views: number; title: string };

type Vocabulary = { words: Record<string, string[]>; titles: Record<string, string[]> };

const hour = 3_600_000;
const videosPerRegion = 60; // two and a half pages
const hours = 25; // so that sparklines are whole

/**
 * Every region's videos, counted every hour: what a list of the demo looks like, in the region's language. `pictures` is
 * what their pictures are below. Some videos rise and some fall within the last hour.
 */
function catalogue(pictures: string, now: number): Line[] {
  const lines = regions.flatMap(({ code, languages: [language = "en"] }) => {
    const vocabulary = vocabularyOf(language);
    return Array.from({ length: videosPerRegion }, (_, n) =>
      describe(vocabulary, { code, n, pictures }),
    ).flatMap((video, n) =>
      Array.from({ length: hours }, (_, ago) => ({
        ...video,
        observed_at: new Date(now - ago * hour).toISOString().replace(/\.\d+Z$/, "Z"),
        views: viewsOf(n, hours - ago),
      })),
    );
  });
  // As they would come: the writer links an observation to the one before it.
  return lines.sort((left, right) => left.observed_at.localeCompare(right.observed_at));
}

/** The views of the n-th video after some hours; never fewer than before. */
function viewsOf(n: number, passed: number): number {
  const usual = 4000 / (1 + n / 6);
  const wave = 1 + 0.7 * Math.sin(n + passed / (2 + (n % 5)));
  const burst = passed === hours && n % 3 === 0 ? 2.5 : 0;
  let views = 0;
  for (let each = 0; each <= passed; each++) {
    views += usual * (each === passed ? wave + burst : 1 + 0.7 * Math.sin(n + each / (2 + (n % 5))));
  }
  return Math.round(views);
}

function describe(
  { words, titles }: Vocabulary,
  { code, n, pictures }: { code: string; n: number; pictures: string },
) {
  const categories = Object.keys(titles);
  const category = categories[n % 6] ?? "Music";
  const templates = titles[category] ?? [];
  let used = n * 7;
  const fill = (template: string) =>
    template.replace(
      /\{(\w+)\}/g,
      (_, name: string) => words[name]?.[used++ % words[name].length] ?? String(n + 3),
    );
  const id = `${code.toLowerCase()}-${n}`;
  return {
    id,
    region: code,
    title: fill(templates[Math.floor(n / 6) % templates.length] ?? id),
    channel: fill("{first} {last}"),
    category,
    thumb_base: `${pictures}/${category.toLowerCase().replace(/[^a-z]+/g, "-")}/${id}`,
    url: `https://videos.example/watch/${id}`,
    ...(["AT", "PT"].includes(code) && n < 30 && { duration_seconds: 180 }),
    ...(code === "AT" && { titles: { sv: `Titel ${n}` } }),
    ...(code === "PT" && n >= 30 && { made_for_kids: true }),
  };
}

function vocabularyOf(language: string): Vocabulary {
  const path = join(import.meta.dirname, `../../../writer/src/Demo/languages/${language}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as Vocabulary;
}
