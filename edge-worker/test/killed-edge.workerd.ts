import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { ViewMinutes } from "@trendvault/contract/openapi";
import { Random } from "@trendvault/contract/test-support/random";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { root } from "./edge.ts";
import { freePort } from "./free-port.ts";
import { edgeKeys, viewsKeys } from "./keys.ts";
import { Origin } from "./origin.ts";
import { signPullAt } from "./view-messages.ts";

const random = new Random();
const kills = 2;
const messagesBetween = 60;

/** The edge as edge-worker/dev starts it, which can be killed and started again with what it has stored. */
class DevEdge {
  readonly #state = mkdtempSync(join(tmpdir(), "trendvault-edge-state-"));
  readonly #origin: string;
  #process: ChildProcess | undefined;
  url = "";

  constructor(origin: string) {
    this.#origin = origin;
  }

  async start(): Promise<void> {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const keys = { EDGE_KEYS: edgeKeys, VIEWS_KEYS: viewsKeys };
    const env = { ...process.env, ...keys, CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "true" };
    const command = [this.#origin, String(port), this.#state];
    const stdio = process.env.TEST_VERBOSE ? "inherit" : "ignore";
    this.#process = spawn(join(root, "edge-worker/dev"), command, { env, stdio, detached: true });
    while (!(await this.#isReady())) await new Promise((resume) => setTimeout(resume, 100));
  }

  /** Ends wrangler and workerd at once, as a power failure of the process does. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, "SIGKILL");
    await once(child, "exit");
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#state, { recursive: true, force: true, maxRetries: 5 });
  }

  async #isReady(): Promise<boolean> {
    assert.equal(this.#process?.exitCode ?? null, null, "the edge did not start");
    return fetch(`${this.url}/api/regions`).then(
      (response) => response.ok,
      () => false,
    );
  }
}

describe("an edge that is killed", () => {
  let database: TestDatabase;
  let origin: Origin;
  let edge: DevEdge;
  before(async () => {
    database = makeDatabase();
    origin = await Origin.start(database.path);
    edge = new DevEdge(origin.url);
    await edge.start();
  });
  after(async () => {
    await edge.remove();
    await origin.kill();
    database.remove();
  });

  /** Whether a message was acknowledged; null when the edge was killed before it answered. */
  async function send(token: string, seen: number): Promise<boolean | null> {
    const body = JSON.stringify({ token, seen, opened: [seen] });
    return fetch(`${edge.url}/api/views`, { method: "POST", body }).then(
      (response) => response.status === 204,
      () => null,
    );
  }

  async function pullViews(): Promise<{ messages: number; closed: number }> {
    const target = "/api/views/minutes?shard=CZ-0&limit=10000";
    const signed = { ...signPullAt(Math.floor(Date.now() / 1000), target) };
    const response = await fetch(edge.url + target, { headers: signed });
    assert.equal(response.status, 200, await response.clone().text());
    const { looks, last_closed } = (await response.json()) as ViewMinutes;
    const ranks = looks.flatMap((row) => row.ranks);
    return { messages: ranks.reduce((sum, [, , , views]) => sum + views, 0), closed: last_closed };
  }

  /** Sends messages, and kills the edge at the first answer if it is to be killed. How many were acknowledged, and not. */
  async function round(
    token: string,
    isKilled: boolean,
  ): Promise<[acknowledged: number, unanswered: number]> {
    const sent = Array.from({ length: messagesBetween }, () => send(token, 1 + random.below(24)));
    if (isKilled) {
      await Promise.race(sent); // the others are under way
      await edge.kill();
    }
    const answers = await Promise.all(sent);
    if (isKilled) await edge.start();
    const acknowledged = answers.filter((answer) => answer === true).length;
    return [acknowledged, answers.length - acknowledged];
  }

  async function readToken(): Promise<string> {
    for (;;) {
      const page = await fetch(`${edge.url}/api/trending?region=CZ`);
      const { token } = (await page.json()) as { token?: string };
      if (token !== undefined) return token;
    }
  }

  /** Everything that was counted; it waits until the minute is over. */
  async function pullMessages(): Promise<number> {
    for (const last = Math.floor(Date.now() / 60_000); ; ) {
      const { messages, closed } = await pullViews();
      if (closed >= last) return messages;
      await new Promise((resume) => setTimeout(resume, 500));
    }
  }

  test(`has counted every message that it has acknowledged, once (TEST_SEED=${random.seed})`, async () => {
    const token = await readToken();
    let [acknowledged, unanswered] = [1, 0];
    while (!(await send(token, 1))) unanswered++; // until the edge has read the list, on a busy machine
    for (const isKilled of [false, ...Array<boolean>(kills).fill(true)]) {
      const [answered, others] = await round(token, isKilled);
      acknowledged += answered;
      unanswered += others;
    }
    const messages = await pullMessages();
    assert.ok(messages >= acknowledged, `${messages} of ${acknowledged} were counted`);
    assert.ok(messages <= acknowledged + unanswered, `${messages} were counted, ${unanswered} unanswered`);
  });
});
