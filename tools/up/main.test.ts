import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import type { RegionTable } from "@trendvault/contract/regions";
import { exitOf, freePort, launch, newFolder } from "@trendvault/kit/machine";
import { createVerifier } from "../../web/client/src/verify.ts";

setDefaultTimeout(1_200_000); // real processes on a busy machine
afterEach(stopAll);

test("an NDJSON source is up with its list, moved to now; Ctrl-C stops all of it with exit code 0", async () => {
  const port = await freePort();
  const startedAt = Math.floor(Date.now() / 1000) * 1000;
  const stack = await start(["--source", sourceFile(twoVideos), "--port", String(port)]);
  const [steps] = await stack.waitForMatch(/^(.+\n)+\nTrendVault is up\./);
  expect(steps.split("\n")).toEqual([
    expect.stringMatching(/^Created local keys/),
    expect.stringMatching(/^views: 6 accepted/),
    expect.stringMatching(/^Published generation 1: 2 videos/),
    "",
    "TrendVault is up.",
  ]);
  const list = await getList(port);
  expect(list.items.map((item) => item.id)).toEqual(["rising", "falling"]);
  expect(Date.parse(list.newest_observed_at)).toBeWithin(startedAt, Date.now());

  expect(await stack.stop("SIGINT")).toBe(0);
  await expect(getList(port)).rejects.toThrow();
});

test("a second run serves the same database without reading the source again, unless it begins afresh", async () => {
  const port = await freePort();
  const db = newDatabasePath();
  const args = ["--source", sourceFile(twoVideos), "--db", db, "--port", String(port)];
  const first = await start(args);
  await first.waitForOutput("TrendVault is up.");
  const page = await fetchBuilt(`http://127.0.0.1:${port}/?region=GB`);
  expect(page.headers.get("content-security-policy")).toContain("img-src 'self' thumbs.example;");
  const before = await getList(port);
  await first.stop("SIGTERM");

  const second = await start(args);
  await second.waitForOutput("holds observations already, which the page goes on showing.");
  await second.waitForOutput("--fresh starts over");
  await second.waitForOutput("TrendVault is up.");
  expect((await getList(port)).newest_observed_at).toBe(before.newest_observed_at);
  await second.stop("SIGTERM");

  mkdirSync(`${db}.edge/cache`, { recursive: true });
  const third = await start([...args, "--fresh", "--source", sourceFile(twoVideos.slice(0, 1))]);
  await third.waitForOutput("TrendVault is up.");
  expect((await getList(port)).items.map(({ id }) => id)).toEqual(["rising"]);
  expect(existsSync(`${db}.edge`)).toBe(false);
});

test.each<[string, (path: string) => unknown]>([
  ["a text file", (path) => writeFileSync(path, "dear diary")],
  [
    "another program's database",
    (path) => new Database(path, { create: true }).run("CREATE TABLE photos (x)"),
  ],
])("--fresh does not delete %s", async (_name, make) => {
  const db = newDatabasePath();
  mkdirSync(dirname(db));
  make(db);
  const before = readFileSync(db);
  const args = ["--fresh", "--source", sourceFile(twoVideos), "--db", db, "--port", String(await freePort())];
  const stack = await start(args);
  await stack.waitForOutput(`Will not delete ${db}: it is not a TrendVault database`);
  expect(await stack.exited).toBe(1);
  expect(readFileSync(db)).toEqual(before);
});

test("an origin that is killed takes the stack down, and is named", async () => {
  const stack = await start(["--source", sourceFile(twoVideos)]);
  await stack.waitForOutput("TrendVault is up.");
  const [origin] = childrenOf(stack.pid);
  process.kill(Number(origin), "SIGKILL");
  await stack.waitForOutput("The origin was killed by SIGKILL.");
  expect(await stack.exited).toBe(1);
});

test("the edge answers, the origin behind it answers the edge only, and both stop", async () => {
  const [port, edgePort] = [await freePort(), await freePort()];
  const db = newDatabasePath();
  const args = ["--db", db, "--port", String(port), "--edge-port", String(edgePort)];
  const stack = await start(["--source", sourceFile(twoVideos), ...args]);
  await stack.waitForOutput("TrendVault is up.");
  const list = await getList(edgePort);
  expect(list.items.map((item) => item.id)).toEqual(["rising", "falling"]);
  const direct = await fetch(`http://127.0.0.1:${port}/api/trending?region=GB`);
  expect(direct.status).toBe(403);
  await expectForThisMachineOnly(port, edgePort);
  expect((await fetch(`http://127.0.0.1:${edgePort}/cdn-cgi/explorer/`)).status).toBe(404);
  expect(existsSync(join(dirname(db), "edge/v3/observability"))).toBe(false); // it would keep whole URLs

  expect(await stack.stop("SIGINT")).toBe(0);
  await expect(getList(edgePort)).rejects.toThrow();
});

test("without an origin the edge answers from what the writer publishes, and nothing listens on the origin's port", async () => {
  const [port, edgePort] = [await freePort(), await freePort()];
  const args = ["--source", sourceFile(twoVideos), "--port", String(port), "--edge-port", String(edgePort)];
  const stack = await start([...args, "--no-origin", "--visitors", "0"]);
  await stack.waitForOutput("origin    none");
  const site = `http://127.0.0.1:${edgePort}`;
  const verify = createVerifier({ baseUrl: site });
  for (const limit of [24, 1]) {
    const url = `${site}/api/trending?region=GB&limit=${limit}`;
    const answer = await fetchBuilt(url);
    const body = new Uint8Array(await answer.arrayBuffer());
    await verify({ url, status: answer.status, headers: answer.headers, body });
    const { items } = JSON.parse(new TextDecoder().decode(body)) as List;
    expect(items.map(({ id }) => id)).toEqual(["rising", "falling"].slice(0, limit));
  }
  const page = await fetchBuilt(`${site}/?region=GB`);
  expect(await page.text()).toContain("The rising one");
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  expect((await fetch(`${site}/dev-store/lists/current.json`)).status).toBe(403);
  expect(await stack.stop("SIGINT")).toBe(0);
  await expect(fetch(site)).rejects.toThrow();
});

test("without the edge the origin answers every client, and bin/up says so", async () => {
  const [port, envFile] = [await freePort(), newEnvFile()];
  const args = ["--source", sourceFile(twoVideos), "--port", String(port), "--env-file", envFile];
  const stack = await start(args, { EDGE_KEYS: "garbage" });
  await stack.waitForOutput(`Not used: EDGE_KEYS. bin/up takes its keys from ${envFile}.`);
  await stack.waitForOutput(
    `Created local keys in ${envFile}: TOKEN_SIGNING_KEYS, SIGNING_KEYS, EDGE_KEYS, VIEWS_KEYS`,
  );
  await stack.waitForOutput("open to every client of this machine");
  await stack.waitForOutput("TrendVault is up.");
  expect((await getList(port)).items).toHaveLength(2);
});

test("a source that ends early gives a message, and what it delivered until then is served", async () => {
  const source = sourceFile(twoVideos);
  appendFileSync(source, '{"id": "cut of');
  const port = await freePort();
  const stack = await start(["--source", source, "--port", String(port)]);
  await stack.waitForMatch(/^\{.*"level":"error".*"event":"source_failed".*\}$/m); // whole
  await stack.waitForOutput("The source ended early");
  await stack.waitForOutput("TrendVault is up.");
  expect((await getList(port)).items).toHaveLength(2);
});

test("Ctrl-C while the database is being filled ends it, and leaves no half-filled database", async () => {
  const db = newDatabasePath();
  const stack = await start(["--db", db]); // the demo takes seconds
  while (Bun.file(`${db}-wal`).size < 1_000_000) await Bun.sleep(20); // until it writes
  expect(await stack.stop("SIGINT")).toBe(0);
  expect(existsSync(db)).toBe(false);
});

test("the demo's lists have pictures, which are served here, and its page and metrics are where it says", async () => {
  const [port, demoPort] = [await freePort(), await freePort()];
  const stack = await start(["--port", String(port), "--demo-port", String(demoPort)]);
  await stack.waitForOutput(`page      http://127.0.0.1:${port}/?region=`);
  const [, admin = ""] = await stack.waitForMatch(/admin {5}(\S+\/metrics)/);
  expect(await (await fetch(admin)).text()).toContain("# TYPE");
  await expectForThisMachineOnly(port, demoPort, Number(new URL(admin).port));
  const [first] = (await getList(port)).items;
  for (const address of first?.thumbs ?? []) {
    expect(address).toStartWith(`http://127.0.0.1:${demoPort}/`);
    expect((await fetch(address)).headers.get("content-type")).toBe("image/svg+xml");
  }
  expect(first?.url).toStartWith(`http://127.0.0.1:${demoPort}/watch/`);
  expect((await fetch(first?.url ?? "")).status).toBe(200);
  expect(await stack.stop("SIGTERM")).toBe(0);
  await expect(fetch(`http://127.0.0.1:${demoPort}/`)).rejects.toThrow();
});

test("real view counts are not mixed with the demo's in a later run without a source", async () => {
  const db = newDatabasePath();
  const first = await start(["--source", sourceFile(twoVideos), "--db", db]);
  await first.waitForOutput("TrendVault is up.");
  await first.stop("SIGTERM");
  const second = await start(["--db", db]);
  await second.waitForOutput("nothing is added");
  await second.waitForOutput("TrendVault is up.");
});

test("a second bin/up on the same database is refused with the process of the first", async () => {
  const db = newDatabasePath();
  const first = await start(["--source", sourceFile(twoVideos), "--db", db]);
  await first.waitForOutput("TrendVault is up.");
  const second = await start(["--db", db]);
  await second.waitForOutput(`Another bin/up runs on ${db} (process ${first.pid})`);
  expect(await second.exited).toBe(1);
});

test("a port in use is one sentence, and nothing is started or written", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as { port: number };
  const db = newDatabasePath();
  const stack = await start(["--db", db, "--port", String(port)]);
  await stack.waitForOutput(`bin/up: Port ${port} is in use`);
  expect(await stack.exited).toBe(1);
  expect(await Bun.file(db).exists()).toBe(false);
  server.close();
});

test("a source that is not there is refused by its path", async () => {
  const stack = await start(["--source", "none.ndjson"]);
  await stack.waitForMatch(/no source at .*none\.ndjson/);
  expect(await stack.exited).toBe(1);
});

test("a database of a newer schema is refused with what to do", async () => {
  const db = newDatabasePath();
  mkdirSync(dirname(db));
  const database = new Database(db, { create: true });
  database.run(
    "CREATE TABLE schema_migrations (version INTEGER, name TEXT, checksum TEXT, applied_at INTEGER)",
  );
  database.run("INSERT INTO schema_migrations VALUES (99, 'the_future', 'x', 1)");
  database.close();
  const stack = await start(["--db", db]);
  expect(await stack.exited).toBe(1);
  await stack.waitForOutput("99");
});

test("an unknown option ends with exit code 2 and the way to the help", async () => {
  const stack = await start(["--prot", "3000"]);
  await stack.waitForOutput("See bin/up --help.");
  expect(await stack.exited).toBe(2);
});

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
}

type List = { newest_observed_at: string; items: { id: string; url: string | null; thumbs: string[] }[] };

async function getList(port: number): Promise<List> {
  const response = await fetchBuilt(`http://127.0.0.1:${port}/api/trending?region=GB`);
  return (await response.json()) as List;
}

test("regions and languages of one's own are those of the writer, the origin, the page and the edge", async () => {
  const source = twoVideos.map((video) => ({ ...video, region: "CA" }));
  const { ask, read } = await up({ ...threeRegions, languages: { ja: "ja.json" } }, source);
  expect((await read("/api/trending?region=ca")).items).toHaveLength(2);
  expect((await read("/api/trending")).region).toBe("US"); // nobody knows the country here
  expect((await read("/api/trending?region=GB")).detail).toBe("region: expected one of US, CA, JP");
  expect((await read("/api/regions")).regions.map(({ name }: { name: string }) => name)).toEqual([
    ...["United States", "Canada", "Japan"],
  ]);
  expect((await read("/feeds/CA.json")).language).toBe("fr");
  const { components } = await read("/openapi.json");
  expect(components.schemas.Region.enum).toEqual(["US", "CA", "JP"]);
  const page = await (await ask("/?region=CA")).text();
  expect(page).toContain('<html lang="fr"');
  expect(page).toContain('"languages":{"US":"en","CA":"fr","JP":"ja"}');
  expect(page.match(/<option value="(..)"/g)).toHaveLength(3);
  expect(await (await ask("/?region=JP")).text()).toContain('<html lang="ja"');
  expect(await (await ask("/?region=US&lang=ja")).text()).toContain("もっと見る");
});

test("a file of regions with mistakes is refused before anything is started, with each of them", async () => {
  const regions = regionsFile({ ...threeRegions, default: "GB", planets: 3 });
  const stack = await start(["--regions", regions]);
  await stack.waitForOutput("planets: unknown, expected only $schema, default, channel_limit, regions");
  expect(await stack.exited).toBe(1);
});

const threeRegions = {
  default: "US",
  regions: [
    { code: "US", name: "United States", languages: ["en"], countries: ["PR"] },
    { code: "CA", name: "Canada", languages: ["fr", "en"] },
    { code: "JP", name: "Japan", languages: ["ja"] },
  ],
};

/** Brings writer, origin and edge up with these regions: it says so only when all have the same. Asks the edge. */
async function up(table: RegionTable, source: Series[]) {
  const [port, edgePort] = [await freePort(), await freePort()];
  const ports = ["--port", String(port), "--edge-port", String(edgePort), "--visitors", "0"];
  const stack = await start(["--source", sourceFile(source), "--regions", regionsFile(table), ...ports]);
  await stack.waitForOutput("TrendVault is up.");
  const ask = (path: string) => fetchBuilt(`http://127.0.0.1:${edgePort}${path}`);
  // biome-ignore lint/suspicious/noExplicitAny: each assertion says which form is expected
  const read = async (path: string): Promise<any> => (await ask(path)).json();
  return { ask, read };
}

function regionsFile(table: object): string {
  const path = join(newFolder("up"), "regions.json");
  writeFileSync(path, JSON.stringify(table));
  writeFileSync(join(path, "../ja.json"), '{"dir": "ltr", "allCategories": "もっと見る"}');
  return path;
}

const main = join(import.meta.dir, "main.ts");
const running: ChildProcess[] = [];

/**
 * Runs `bin/up` (without its set-up) with these arguments. Unless they say otherwise, with a new database and new keys
 * in a temporary folder, and without the edge.
 */
async function start(args: string[], environment: Record<string, string> = {}) {
  const db = args.includes("--db") ? [] : ["--db", newDatabasePath()];
  const edge = args.includes("--edge-port") ? [] : ["--no-edge"];
  const port = args.includes("--port") ? [] : ["--port", String(await freePort())];
  const admin = args.includes("--admin-port") ? [] : ["--admin-port", String(await freePort())];
  const demo = args.includes("--demo-port") ? [] : ["--demo-port", String(await freePort())];
  const envFile = args.includes("--env-file") ? [] : ["--env-file", newEnvFile()];
  const command = [
    process.execPath,
    "--no-env-file",
    main,
    ...args,
    ...db,
    ...edge,
    ...port,
    ...admin,
    ...demo,
    ...envFile,
  ];
  const child = launch(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...environment },
  });
  running.push(child);
  const output = readInto(child.stdout as Readable);
  return {
    pid: child.pid ?? 0,
    exited: exitOf(child),
    /** Resolves once the text has been printed; rejects, showing all output, when the process ends without it. */
    waitForOutput: (text: string) => output.until((printed) => printed.includes(text), text),
    /** The same for a pattern. Resolves with what it found. */
    waitForMatch: (pattern: RegExp) => output.until((printed) => pattern.exec(printed), String(pattern)),
    stop: (signal: NodeJS.Signals) => {
      child.kill(signal);
      return exitOf(child);
    },
  };
}

function readInto(stream: Readable) {
  let text = "";
  let changed = Promise.withResolvers<void>();
  let ended = false;
  const decoder = new TextDecoder();
  const done = (async () => {
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      changed.resolve();
      changed = Promise.withResolvers();
    }
    ended = true;
    changed.resolve();
  })();
  const until = async <T>(find: (printed: string) => T | null | false, wanted: string): Promise<T> => {
    for (;;) {
      const found = find(text);
      if (found) return found;
      if (ended) throw new Error(`It ended without printing "${wanted}":\n${text}`);
      await changed.promise;
    }
  };
  return { until, done };
}

/** For afterEach: no test leaves a stack behind. */
async function stopAll(): Promise<void> {
  for (const child of running.splice(0)) {
    child.kill("SIGTERM");
    await exitOf(child);
  }
}

/** A path in a new folder, whose `data` is still to be made. */
function newDatabasePath(): string {
  return join(newFolder("up"), "data/trendvault.db");
}

/** A path in a new folder, for the file with the keys. */
function newEnvFile(): string {
  return join(newFolder("up"), "local.env");
}

/** The cumulative views of one video, hour by hour from noon of 2017-09-13; in GB unless it names another region. */
type Series = { id: string; views: number[]; region?: string };

/** Over three hours one video gains more and more, the other less and less. */
const twoVideos: Series[] = [
  { id: "rising", views: [1_000, 2_000, 9_000] },
  { id: "falling", views: [1_000, 8_000, 9_000] },
];

/** Writes the series as NDJSON and returns the file's path. */
function sourceFile(series: readonly Series[]): string {
  const path = join(newFolder("up"), "views.ndjson");
  const lines = series.flatMap(({ id, views, region = "GB" }) =>
    views.map((count, hour) => ({ ...observation(id, count, hour), region })),
  );
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

function observation(id: string, views: number, hour: number) {
  return {
    id,
    observed_at: new Date(Date.UTC(2017, 8, 13, 12 + hour)).toISOString(),
    views,
    title: `The ${id} one`,
    channel: id,
    thumb_base: `https://thumbs.example/${id}`,
  };
}

/** On a busy machine an answer may take the origin longer than the edge waits; asking again counts as a miss. */
async function fetchBuilt(url: string): Promise<Response> {
  for (;;) {
    const response = await fetch(url);
    if (response.status !== 503 && response.status !== 429) return response;
    await Bun.sleep(500);
  }
}

/** What listens on every address of the machine would answer at this one, too. */
async function expectForThisMachineOnly(...ports: number[]): Promise<void> {
  for (const port of ports) await expect(fetch(`http://127.0.0.2:${port}/`)).rejects.toThrow();
}
