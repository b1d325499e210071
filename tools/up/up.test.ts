import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { freePort } from "../../edge-worker/test/free-port.ts";
import { createVerifier } from "../../web/client/src/verify.ts";
import { isSeededWithDemo } from "./database-files.ts";
import {
  fetchBuilt,
  newDatabasePath,
  newEnvFile,
  sourceFile,
  start,
  stopAll,
  twoVideos,
} from "./test-support/running-stack.ts";

setDefaultTimeout(1_200_000); // real processes on a busy machine
afterEach(stopAll);

test("an NDJSON source is up with its list, moved to now; Ctrl-C stops all of it with exit code 0", async () => {
  const port = await freePort();
  const startedAt = Math.floor(Date.now() / 1000) * 1000;
  const stack = start(["--source", sourceFile(twoVideos), "--port", String(port)]);
  await stack.waitForOutput("TrendVault is up.");
  const list = await getList(port);
  expect(list.items.map((item) => item.id)).toEqual(["rising", "falling"]);
  expect(Date.parse(list.newest_observed_at)).toBeWithin(startedAt, Date.now());

  expect(await stack.stop("SIGINT")).toBe(0);
  await expect(getList(port)).rejects.toThrow();
});

test("a second run serves the same database without reading the source again", async () => {
  const port = await freePort();
  const args = ["--source", sourceFile(twoVideos), "--db", newDatabasePath(), "--port", String(port)];
  const first = start(args);
  await first.waitForOutput("TrendVault is up.");
  const before = await getList(port);
  await first.stop("SIGTERM");

  const second = start(args);
  await second.waitForOutput("--fresh starts over");
  await second.waitForOutput("TrendVault is up.");
  expect((await getList(port)).newest_observed_at).toBe(before.newest_observed_at);
});

test("an origin that is killed takes the stack down, and is named", async () => {
  const stack = start(["--source", sourceFile(twoVideos), "--port", String(await freePort())]);
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
  const stack = start(["--source", sourceFile(twoVideos), ...args]);
  await stack.waitForOutput("TrendVault is up.");
  const list = await getList(edgePort);
  expect(list.items.map((item) => item.id)).toEqual(["rising", "falling"]);
  const direct = await fetch(`http://127.0.0.1:${port}/api/trending?region=GB`);
  expect(direct.status).toBe(403);
  expect((await fetch(`http://127.0.0.1:${edgePort}/cdn-cgi/explorer/`)).status).toBe(404);
  expect(existsSync(join(dirname(db), "edge/v3/observability"))).toBe(false); // it would keep whole URLs

  expect(await stack.stop("SIGINT")).toBe(0);
  await expect(getList(edgePort)).rejects.toThrow();
});

test("without an origin the edge answers from what the writer publishes, and nothing listens on the origin's port", async () => {
  const [port, edgePort] = [await freePort(), await freePort()];
  const args = ["--source", sourceFile(twoVideos), "--port", String(port), "--edge-port", String(edgePort)];
  const stack = start([...args, "--no-origin", "--visitors", "0"]);
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
  const stack = start(args, { EDGE_KEYS: "garbage" });
  await stack.waitForOutput(`Not used: EDGE_KEYS. bin/up takes its keys from ${envFile}.`);
  await stack.waitForOutput(
    `Created local keys in ${envFile}: TOKEN_SIGNING_KEYS, SIGNING_KEY, EDGE_KEYS, VIEWS_KEYS`,
  );
  await stack.waitForOutput("open to every client of this machine");
  await stack.waitForOutput("TrendVault is up.");
  expect((await getList(port)).items).toHaveLength(2);
});

test("a source that ends early gives a message, and what it delivered until then is served", async () => {
  const source = sourceFile(twoVideos);
  appendFileSync(source, '{"id": "cut of');
  const port = await freePort();
  const stack = start(["--source", source, "--port", String(port)]);
  await stack.waitForOutput("The source ended early");
  await stack.waitForOutput("TrendVault is up.");
  expect((await getList(port)).items).toHaveLength(2);
});

test("Ctrl-C while the database is being filled ends it, and leaves no half-filled database", async () => {
  const db = newDatabasePath();
  const stack = start(["--db", db, "--port", String(await freePort())]); // the demo takes seconds
  while (Bun.file(`${db}-wal`).size < 1_000_000) await Bun.sleep(20); // until it writes
  expect(await stack.stop("SIGINT")).toBe(0);
  expect(existsSync(db)).toBe(false);
});

test("the demo's lists have pictures, which are served here, and its page and metrics are where it says", async () => {
  const [port, demoPort] = [await freePort(), await freePort()];
  const stack = start(["--port", String(port), "--demo-port", String(demoPort)]);
  await stack.waitForOutput(`page      http://127.0.0.1:${port}/?region=`);
  const [, admin = ""] = await stack.waitForMatch(/admin {5}(\S+\/metrics)/);
  expect(await (await fetch(admin)).text()).toContain("# TYPE");
  const [first] = (await getList(port)).items;
  for (const address of first?.thumbs ?? []) {
    expect(address).toStartWith(`http://127.0.0.1:${demoPort}/`);
    expect((await fetch(address)).headers.get("content-type")).toBe("image/svg+xml");
  }
  expect(await stack.stop("SIGTERM")).toBe(0);
  await expect(fetch(`http://127.0.0.1:${demoPort}/`)).rejects.toThrow();
});

test("real view counts are not mixed with the demo's in a later run without a source", async () => {
  const db = newDatabasePath();
  const first = start(["--source", sourceFile(twoVideos), "--db", db, "--port", String(await freePort())]);
  await first.waitForOutput("TrendVault is up.");
  await first.stop("SIGTERM");
  const second = start(["--db", db, "--port", String(await freePort())]);
  await second.waitForOutput("nothing is added");
  await second.waitForOutput("TrendVault is up.");
  expect(isSeededWithDemo(db)).toBe(false);
});

test("a second bin/up on the same database is refused with the process of the first", async () => {
  const db = newDatabasePath();
  const first = start(["--source", sourceFile(twoVideos), "--db", db, "--port", String(await freePort())]);
  await first.waitForOutput("TrendVault is up.");
  const second = start(["--db", db, "--port", String(await freePort())]);
  await second.waitForOutput(`Another bin/up runs on ${db} (process ${first.pid})`);
  expect(await second.exited).toBe(1);
});

test("a port in use is one sentence, and nothing is started or written", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as { port: number };
  const db = newDatabasePath();
  const stack = start(["--db", db, "--port", String(port)]);
  await stack.waitForOutput(`bin/up: Port ${port} is in use`);
  expect(await stack.exited).toBe(1);
  expect(await Bun.file(db).exists()).toBe(false);
  server.close();
});

test("a database of a newer schema is refused with what to do", async () => {
  const db = newDatabasePath();
  mkdirSync(dirname(db));
  using database = new Database(db, { create: true });
  database.run(
    "CREATE TABLE schema_migrations (version INTEGER, name TEXT, checksum TEXT, applied_at INTEGER)",
  );
  database.run("INSERT INTO schema_migrations VALUES (99, 'the_future', 'x', 1)");
  const stack = start(["--db", db, "--port", String(await freePort())]);
  expect(await stack.exited).toBe(1);
  await stack.waitForOutput("99");
});

test("an unknown option ends with exit code 2 and the way to the help", async () => {
  const stack = start(["--prot", "3000"]);
  await stack.waitForOutput("See bin/up --help.");
  expect(await stack.exited).toBe(2);
});

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
}

type List = { newest_observed_at: string; items: { id: string; thumbs: string[] }[] };

async function getList(port: number): Promise<List> {
  const response = await fetchBuilt(`http://127.0.0.1:${port}/api/trending?region=GB`);
  return (await response.json()) as List;
}
