import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TrendingPage } from "@trendvault/contract/responses";
import {
  exitOf,
  freePort,
  killLaunched,
  launch,
  newFolder,
  until,
  writerProgram,
} from "@trendvault/kit/machine";
import { drawsOf, Random } from "@trendvault/kit/random";
import { parseOptions } from "./options.ts";
import { servicesOf } from "./services.ts";
import { loadOrCreateKeys } from "./settings.ts";
import { visit, visitorHeaders } from "./visitors.ts";

const root = resolve(import.meta.dir, "../..");

/** Adds up what is stored of each video, since the writer deletes a minute that has been counted. */
const addUp = `CREATE TABLE stored (region, video_id, impressions, clicks);
  CREATE TRIGGER first AFTER INSERT ON pulled_counts BEGIN
    INSERT INTO stored VALUES (NEW.region, NEW.video_id, NEW.impressions, NEW.clicks);
  END;
  CREATE TRIGGER more AFTER UPDATE ON pulled_counts BEGIN
    INSERT INTO stored VALUES (NEW.region, NEW.video_id, NEW.impressions - OLD.impressions, NEW.clicks - OLD.clicks);
  END;`;

type Visit = ReturnType<typeof visit>;

/** Impressions and clicks by `region video`. */
type Counts = Map<string, { impressions: number; clicks: number }>;

/** Origin, edge and writer as bin/up runs them, each of which may be killed, over a database in a folder of its own. */
class LoopParts {
  readonly edgeUrl: string;
  readonly #folder: string;
  readonly #database: string;
  readonly #env: Record<string, string>;
  readonly #commands: Record<
    "origin" | "edge",
    { command: string[]; env: Record<string, string>; url: string }
  >;
  readonly #running = new Map<string, ChildProcess>();

  private constructor(ports: { origin: number; admin: number; edge: number }) {
    this.#folder = newFolder("loop");
    this.#database = join(this.#folder, "data/trendvault.db");
    this.edgeUrl = `http://127.0.0.1:${ports.edge}`;
    const envFile = join(this.#folder, ".env");
    const args = ["--port", String(ports.origin), "--admin-port", String(ports.admin)];
    args.push("--db", this.#database, "--edge-port", String(ports.edge), "--env-file", envFile);
    const options = parseOptions(args, { cwd: this.#folder, root });
    const { PATH = "", HOME = "" } = process.env;
    const { settings } = loadOrCreateKeys(envFile);
    this.#env = { PATH, HOME, ...settings, DB_PATH: this.#database, SOURCES: `edge:${this.edgeUrl}` };
    const context = { root, env: this.#env };
    const [origin, edge] = servicesOf(options, context);
    if (origin === undefined || edge === undefined) throw new Error("Expected an origin and an edge");
    this.#commands = {
      origin: { ...origin, url: origin.readyUrl },
      edge: { ...edge, url: edge.readyUrl },
    };
  }

  /** `lines` are what the writer ingests first. */
  static async start(lines: readonly object[]): Promise<LoopParts> {
    const parts = new LoopParts({
      origin: await freePort(),
      admin: await freePort(),
      edge: await freePort(),
    });
    const source = join(parts.#folder, "videos.ndjson");
    mkdirSync(join(parts.#folder, "data"));
    writeFileSync(source, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    for (const command of [["migrate"], ["ingest", source], ["rank"]]) {
      if ((await parts.runWriter(command)) !== 0) throw new Error(`writer ${command.join(" ")} failed`);
    }
    const database = new Database(parts.#database);
    database.run(addUp);
    database.close();
    await parts.run("origin");
    await parts.run("edge");
    return parts;
  }

  /** Starts a part, and waits until it answers. */
  async run(name: "origin" | "edge"): Promise<void> {
    const { command, env, url } = this.#commands[name];
    const log = openSync(join(this.#folder, `${name}.log`), "w");
    this.#running.set(name, launch(command, { env, stdio: ["ignore", log, log] }));
    closeSync(log);
    while (
      !(await fetch(url).then(
        () => true,
        () => false,
      ))
    )
      await Bun.sleep(50);
  }

  /** SIGKILL for a part and all that it has started. */
  async kill(name: "origin" | "edge"): Promise<void> {
    const child = this.#running.get(name);
    if (child === undefined) return;
    this.#running.delete(name);
    await killLaunched(child);
  }

  /** Resolves with the exit code. After `killedAfterMs` it is killed. */
  async runWriter(command: readonly string[], killedAfterMs = Number.POSITIVE_INFINITY): Promise<number> {
    const log = openSync(join(this.#folder, "writer.log"), "w");
    const child = launch([writerProgram, ...command], { env: this.#env, stdio: ["ignore", "ignore", log] });
    closeSync(log);
    const timer = Number.isFinite(killedAfterMs)
      ? setTimeout(() => killLaunched(child), killedAfterMs)
      : undefined;
    const exitCode = await exitOf(child);
    clearTimeout(timer);
    return exitCode;
  }

  /** What the writer has stored of what visitors did. */
  storedCounts(): Counts {
    const rows = this.query<{ region: string; video_id: string; impressions: number; clicks: number }>(
      "SELECT region, video_id, sum(impressions) AS impressions, sum(clicks) AS clicks FROM stored GROUP BY 1, 2",
    );
    return new Map(
      rows.map(({ region, video_id, impressions, clicks }) => [
        `${region} ${video_id}`,
        { impressions, clicks },
      ]),
    );
  }

  /** Of the origin. */
  async servedGeneration(): Promise<number | undefined> {
    const answer = await fetch(this.#commands.origin.url); // its readiness
    return ((await answer.json()) as { generation?: number }).generation;
  }

  logOf(name: "origin" | "edge"): string {
    return readFileSync(join(this.#folder, `${name}.log`), "utf8");
  }

  query<Row>(sql: string): Row[] {
    const database = new Database(this.#database, { readonly: true });
    try {
      database.run("PRAGMA busy_timeout = 60000"); // after a kill, the next one to open it recovers its log
      return database.query<Row, []>(sql).all();
    } finally {
      database.close();
    }
  }

  async stop(): Promise<void> {
    await this.kill("edge");
    await this.kill("origin");
    rmSync(this.#folder, { recursive: true });
  }
}

// From visitors to the list, with real parts: the origin, the edge in workerd with its counters, the writer.
setDefaultTimeout(1_800_000); // a minute has to close, on a busy machine

const random = new Random();
const regions = ["GB", "DE", "FR"] as const;
const quietRegion = "SE"; // which those visitors do not visit: an edge that is killed forgets some of the lists it has served
const visitors = drawsOf({ usual: 2000, long: 10_000 });
const concurrency = 256; // a message waits up to a second for others
const writerKills = 10;
const edgeKills = 2;
const openers = 2 * concurrency;
const killed = 128 + 9; // the exit code of a process that SIGKILL ended

let parts: LoopParts;
let opened: { id: string; rank: number };
beforeAll(async () => {
  parts = await LoopParts.start([...regions, quietRegion].flatMap((region) => describeVideos(region, 40)));
  const pages = await Promise.all(regions.map((region) => fetchPage(region)));
  await Promise.all([sendVisits(pages), killWriters()]);
  opened = await openLast(quietRegion);
  await pullUntilStored();
  // An edge that starts anew, as `wrangler dev` does when a file changes, forgets which lists it has served: none counts.
  for (let again = 0; listsServed(quietRegion) === 0 && again < 3; again++) {
    console.warn(`The edge forgot that it served lists:\n${parts.logOf("edge")}`);
    opened = await openLast(quietRegion);
    await pullUntilStored();
  }
});
afterAll(() => parts.stop());

/** What is known of the messages: what was acknowledged is counted, what has no answer may be. */
const acknowledged: Counts = new Map();
const unanswered: Counts = new Map();
/** `refused` by an edge whose counters did not answer in time. */
const messages = { sent: 0, acknowledged: 0, refused: 0, unanswered: 0 };

test(`what ${visitors} visitors did is stored as it was acknowledged, whatever is killed (seed ${random.seed})`, () => {
  expect(messages.sent).toBeGreaterThanOrEqual(visitors + openers);
  expect(messages.acknowledged + messages.refused + messages.unanswered).toBe(messages.sent);
  expect(messages.unanswered).toBeLessThanOrEqual(edgeKills * concurrency);
  const stored = parts.storedCounts();
  for (const key of new Set([...acknowledged.keys(), ...stored.keys()])) {
    const [told, maybe] = [countsOf(acknowledged, key), countsOf(unanswered, key)];
    const { impressions, clicks } = countsOf(stored, key);
    expect(impressions).toBeWithin(told.impressions, told.impressions + maybe.impressions + 1);
    expect(clicks).toBeWithin(Math.min(1, told.clicks), told.clicks + maybe.clicks + 1); // others share a sender's cell
  }
  expect(total(acknowledged).impressions).toBeGreaterThan(messages.acknowledged);
});

test("a video that is opened more per impression climbs", async () => {
  await pullUntilSettled();
  expect(countsOf(parts.storedCounts(), `${quietRegion} ${opened.id}`).clicks).toBeGreaterThan(openers / 2);
  const after = await fetchRanked(quietRegion);
  const rank = after.items.find(({ id }) => id === opened.id)?.rank ?? Number.POSITIVE_INFINITY;
  expect(rank, parts.logOf("edge")).toBeLessThan(opened.rank);
});

/** On a busy machine an answer may take the origin longer than the edge waits: another visitor asks then. */
async function fetchPage(region: string, limit = ""): Promise<TrendingPage> {
  let answer = new Response(null, { status: 503 });
  await until(async () => {
    const headers = visitorHeaders(() => random.next()); // the edge limits what one visitor asks for
    answer = await fetch(`${parts.edgeUrl}/api/trending?region=${region}${limit}`, { headers });
    return answer.status !== 503;
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as TrendingPage;
}

/** Sends all visits. At two drawn ones the edge is killed while others are on their way, and started again. */
async function sendVisits(pages: TrendingPage[]): Promise<void> {
  const killAt = new Set<number>();
  while (killAt.size < edgeKills) killAt.add(1 + random.below(visitors - 1));
  let restarting = Promise.resolve();
  const sendOne = async () => {
    while (messages.sent < visitors) {
      await restarting;
      if (killAt.delete(messages.sent)) {
        restarting = restartEdge();
        continue;
      }
      if (messages.sent === visitors) return;
      const page = random.pick(pages);
      await send(visit(page, { random: () => random.next(), now: Date.now() }), page);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendOne));
}

async function restartEdge(): Promise<void> {
  await parts.kill("edge");
  await parts.run("edge");
}

/** Gives whether it was acknowledged. */
async function send(message: Visit, page: TrendingPage): Promise<boolean> {
  messages.sent++;
  const answer = await fetch(`${parts.edgeUrl}/api/views`, {
    method: "POST",
    body: JSON.stringify(message),
    headers: visitorHeaders(() => random.next()),
  }).catch(
    () => null, // the edge was killed: it may have counted this one
  );
  if (answer?.status === 204) {
    messages.acknowledged++;
    add(acknowledged, message, page);
  } else if (answer === null || answer.status >= 500) {
    messages[answer === null ? "unanswered" : "refused"]++;
    add(unanswered, message, page);
  } else throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer?.status === 204;
}

function add(counts: Counts, { seen, opened }: Visit, page: TrendingPage): void {
  for (const { rank, id } of page.items) {
    const key = `${page.region} ${id}`;
    const { impressions, clicks } = countsOf(counts, key);
    counts.set(key, {
      impressions: impressions + (rank <= seen ? 1 : 0),
      clicks: clicks + (opened.includes(rank) ? 1 : 0),
    });
  }
}

function countsOf(counts: Counts, key: string): { impressions: number; clicks: number } {
  return counts.get(key) ?? { impressions: 0, clicks: 0 };
}

function total(counts: Counts): { impressions: number; clicks: number } {
  const all = [...counts.values()];
  const sum = (numbers: number[]) => numbers.reduce((left, right) => left + right, 0);
  return {
    impressions: sum(all.map(({ impressions }) => impressions)),
    clicks: sum(all.map(({ clicks }) => clicks)),
  };
}

/** A run that ends before its time is not killed, and is drawn anew. */
async function killWriters(): Promise<void> {
  for (let kills = 0; kills < writerKills; )
    if ((await parts.runWriter(["cron"], 50 + random.below(900))) === killed) kills++;
}

/** All open the last video of a list that they have seen to its end. */
async function openLast(region: string): Promise<{ id: string; rank: number }> {
  const page = await fetchPage(region);
  const last = page.items.at(-1);
  if (last === undefined) throw new Error("no list");
  // Impressions count up to three times the lists that were served.
  await Promise.all(Array.from({ length: concurrency }, () => fetchPage(region)));
  const message = { token: page.token, seen: last.rank, opened: [last.rank] };
  let left = openers;
  // A busy edge may refuse all that it has added together.
  for (let rounds = 0; left > 0 && rounds < 10; rounds++) {
    const isTaken = await Promise.all(Array.from({ length: left }, () => send(message, page)));
    left -= isTaken.filter(Boolean).length;
  }
  expect(left).toBe(0);
  return last;
}

/** Until this minute is over and pulled; a sum of counts would be reached before, by those that were not acknowledged. */
async function pullUntilStored(): Promise<void> {
  const minute = Math.floor(Date.now() / 60_000);
  const open = `SELECT count(*) AS shards FROM pull_shards WHERE ifnull(after, 0) < ${minute}`;
  await Bun.sleep((minute + 1) * 60_000 - Date.now());
  while ((await parts.runWriter(["cron"])) !== 0 || parts.query<{ shards: number }>(open)[0]?.shards !== 0)
    await Bun.sleep(1000);
}

/** What was pulled counts when the next minute is pulled, too. */
async function pullUntilSettled(): Promise<void> {
  const open = "SELECT count(*) AS regions FROM pull_regions WHERE settled_clicks + late_clicks < clicks";
  while (parts.query<{ regions: number }>(open)[0]?.regions !== 0) await pullUntilStored();
}

function listsServed(region: string): number {
  const sql = `SELECT lists FROM pull_regions WHERE region = '${region}'`;
  return parts.query<{ lists: number }>(sql)[0]?.lists ?? 0;
}

/** Videos with the same views, so that only what visitors do can move them. */
function describeVideos(region: string, count: number): object[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => index).flatMap((index) =>
    [2, 1].map((hoursAgo) => ({
      id: `${region}-${index}`,
      region,
      observed_at: new Date(now - hoursAgo * 3_600_000).toISOString(),
      published_at: new Date(now - 30 * 3_600_000).toISOString(),
      views: (10 - hoursAgo) * 1000 - index,
      title: `Video ${index}`,
      channel: `Channel ${index}`,
      thumb_base: `https://thumbs.example/${index}`,
    })),
  );
}

/** Ranks, and gives a page of that generation once it is served: of a limit that no cache knows. */
async function fetchRanked(region: string): Promise<TrendingPage> {
  await parts.runWriter(["rank"]);
  const newest = "SELECT max(id) AS id FROM generations";
  const generation = parts.query<{ id: number }>(newest)[0]?.id;
  await until(async () => (await parts.servedGeneration()) === generation);
  return fetchPage(region, "&limit=40");
}
