import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PublicKeySet, parseKeyRing } from "@trendvault/contract/keys";
import { paths } from "@trendvault/contract/paths";
import { EdgeSigner, edgeMinute, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { verifyResponse } from "@trendvault/contract/response-signature";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { type RawResponse, startLoad } from "@trendvault/kit/load";
import { newFolder, until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";

const newKey = () => randomBytes(32).toString("base64url");
const targets = ["/api/trending", "/api/trending?limit=7", "/api/regions"];

let builder: DatabaseBuilder;
let folder: string;
let origin: OriginProcess | null = null;

beforeEach(() => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(60) }]);
  folder = newFolder("rotation");
});

afterEach(async () => {
  await origin?.remove();
  origin = null;
  builder.remove();
  rmSync(folder, { recursive: true });
});

/** Replaces a key file as docs/operations.md does it, and gives its path. */
function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(`${path}.new`, `${text}\n`, { mode: 0o640 });
  renameSync(`${path}.new`, path);
  return path;
}

async function start(keys: { signing: string; edge: string }, env: Record<string, string> = {}) {
  origin = await OriginProcess.start(builder.path, {
    SIGNING_KEYS: `file:${write("signing-keys", keys.signing)}`,
    EDGE_KEYS: `file:${write("edge-keys", keys.edge)}`,
    ...env,
  });
  return origin;
}

async function header(edgeKeys: string): Promise<Record<string, string>> {
  return { [edgeSignatureHeader]: await new EdgeSigner(parseKeyRing(edgeKeys)).sign(Date.now() / 1000) };
}

async function ask(url: string, edgeKeys: string, target = "/api/trending"): Promise<Response> {
  return fetch(new URL(target, url), { headers: await header(edgeKeys), keepalive: false });
}

async function readKeySet(url: string, edgeKeys: string): Promise<PublicKeySet> {
  return (await ask(url, edgeKeys, paths.publicKeys)).json() as Promise<PublicKeySet>;
}

async function hangUp(running: OriginProcess): Promise<void> {
  const before = running.workerPids();
  running.kill("SIGHUP");
  await until(() => {
    const now = running.workerPids();
    return now.length === before.length && now.every((pid) => !before.includes(pid));
  });
}

/** Gives the edge's field as it is at the time of each call, in an hour from now on: a signature lives two minutes. */
async function signedFields(edgeKeys: string): Promise<() => string> {
  const signer = new EdgeSigner(parseKeyRing(edgeKeys));
  const first = edgeMinute(Date.now() / 1000);
  const signatures = await Promise.all(
    Array.from({ length: 60 }, (_, minutes) => signer.sign(60 * (first + minutes))),
  );
  return () => `${edgeSignatureHeader}: ${signatures[edgeMinute(Date.now() / 1000) - first]}\r\n`;
}

/** Keeps the response of every answer under load, and counts what was refused. */
async function keepAsking(url: string, edgeKeys: string) {
  const responses: RawResponse[] = [];
  const load = startLoad(url, {
    connections: 16,
    targets,
    headers: await signedFields(edgeKeys),
    check(response) {
      responses.push(response);
      return response.status === 200 ? null : `status ${response.status}`;
    },
  });
  return { load, responses };
}

async function verdictOf({ status, head, body }: RawResponse, keys: PublicKeySet): Promise<string> {
  const lines = head.split("\r\n").slice(1);
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]));
  return verifyResponse({ status, headers, body: new Uint8Array(Buffer.from(body, "latin1")) }, keys);
}

test("a rotation of both keys under load, by SIGHUP: nothing is refused, every signature is of a published key", async () => {
  const [e1, e2] = [`e1:${newKey()}`, `e2:${newKey()}`];
  const [s1, s2] = [newKey(), newKey()];
  const running = await start({ signing: s1, edge: e1 }, { WORKERS: "2" });
  const { url } = running;
  const published = await readKeySet(url, e1);
  const { load, responses } = await keepAsking(url, e1);
  await until(() => load.result.answers > 200);

  write("edge-keys", `${e2},${e1}`);
  write("signing-keys", `${s1},${s2}`);
  await hangUp(running);
  const both = await readKeySet(url, e2);
  expect(both.keys).toHaveLength(3); // the last one signs tokens
  expect(both.keys[0]).toEqual(published.keys[0] as never);

  write("signing-keys", `${s2},${s1}`);
  await hangUp(running);
  expect((await readKeySet(url, e1)).keys[0]).toEqual(both.keys[1] as never);
  const before = load.result.answers;
  await until(() => load.result.answers > before + 200);
  expect((await load.stop()).failures).toEqual([]);

  const verdicts = new Map<string, number>();
  for (const response of responses) {
    const verdict = await verdictOf(response, both);
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  }
  expect(verdicts).toEqual(new Map([["valid", responses.length]]));
  const kids = responses.map(({ head }) => /keyid="([^"]+)"/.exec(head)?.[1] ?? "none");
  expect([...new Set(kids)]).toEqual(both.keys.slice(0, 2).map(({ kid }) => kid));

  write("edge-keys", e2);
  write("signing-keys", s2);
  await hangUp(running);
  expect((await ask(url, e1)).status).toBe(403);
  expect((await ask(url, e2)).status).toBe(200);
  expect((await readKeySet(url, e2)).keys).toEqual(both.keys.slice(1));
  expect(running.output).not.toContain(s2);
}, 1_200_000);

test("keys of which SIGHUP told while the first worker started, which had read others, are used", async () => {
  const [e1, e2] = [`e1:${newKey()}`, `e2:${newKey()}`];
  const path = join(folder, "locked.db");
  builder.database.run("VACUUM INTO ?", [path]);
  const locking = new Database(path);
  locking.run("BEGIN EXCLUSIVE"); // a worker waits for it when it has read its keys, for two seconds: it is stopped before
  const running = await OriginProcess.launch(path, { EDGE_KEYS: `file:${write("edge-keys", e1)}` });
  origin = running;
  await until(() => running.workerPids().some((pid) => hasOpen(pid, path)));
  const worker = Number(running.workerPids()[0]);
  process.kill(worker, "SIGSTOP");
  write("edge-keys", e2);
  running.kill("SIGHUP");
  locking.close();
  process.kill(worker, "SIGCONT");
  await running.listening();
  await until(() => running.lines.some(({ event }) => event === "worker_replaced"));
  expect((await ask(running.url, e2)).status).toBe(200);
  expect((await ask(running.url, e1)).status).toBe(403);
});

function hasOpen(pid: number, path: string): boolean {
  try {
    const open = `/proc/${pid}/fd`;
    return readdirSync(open).some((name) => readlinkSync(`${open}/${name}`) === path);
  } catch {
    return false; // a file was closed meanwhile
  }
}

test("a key file that is bad at SIGHUP leaves the keys of before, also for a worker that crashes then", async () => {
  const [e1, s1] = [`e1:${newKey()}`, newKey()];
  const running = await start({ signing: s1, edge: e1 });
  const { url, lines } = running;
  const { load } = await keepAsking(url, e1);
  await until(() => load.result.answers > 100);
  write("signing-keys", newKey());
  const path = write("edge-keys", "e2:garbage");
  const published = await readKeySet(url, e1);
  await hangUp(running);
  expect((await load.stop()).failures).toEqual([]);
  expect(await readKeySet(url, e1)).toEqual(published); // not half of the change
  const rejected = lines.find(({ event }) => event === "keys_rejected");
  expect(rejected).toMatchObject({ level: "error" });
  expect(String(rejected?.reason)).toStartWith("EDGE_KEYS: the key of e2 has");
  expect(running.output).not.toContain("garbage");
  await until(async () => (await running.readiness()).status === "degraded");
  expect((await running.readiness()).reasons.join()).toContain("EDGE_KEYS: ");

  const crashing = Number(running.workerPids()[0]);
  rmSync(path);
  process.kill(crashing, "SIGKILL");
  await until(() => running.workerPids().some((pid) => pid !== crashing));
  await until(async () => (await ask(url, e1).catch(() => null))?.status === 200);

  const e3 = `e3:${newKey()}`;
  write("edge-keys", e3);
  await hangUp(running);
  expect(lines.findLast(({ event }) => event === "keys_read")).toMatchObject({ edge_key_ids: ["e3"] });
  expect((await ask(url, e3)).status).toBe(200);
  expect(await readKeySet(url, e3)).not.toEqual(published);
  await until(async () => (await running.readiness()).status === "ok");
}, 1_200_000);

test("a key file that is bad at the start is named with its setting, and nothing starts", async () => {
  const path = write("edge-keys", `e1:${"A".repeat(43)}`);
  const { code, stderr } = await OriginProcess.refuse(builder.path, { EDGE_KEYS: `file:${path}` });
  expect(code).toBe(1);
  expect(stderr.trim()).toBe(
    "EDGE_KEYS: the key of e1 is one byte repeated: make a random one. " +
      "Example: EDGE_KEYS=e1:<32 random bytes as base64url: openssl rand -base64 32 | tr '+/' '-_' | tr -d '='>",
  );
});
