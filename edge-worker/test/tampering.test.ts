import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { drawsOf, Random } from "@trendvault/contract/test-support/random";
import { validateOriginResponse } from "../src/origin.ts";
import { canonicalize } from "../src/policy.ts";
import type { StoredResponse } from "../src/signed-answer.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { type Exchange, Tamperer } from "./exchanges.ts";
import { askTwice, type Seen, type Situation } from "./in-process-edge.ts";
import { keySet, signAgain } from "./keys.ts";
import { Origin } from "./origin.ts";

const draws = drawsOf({ usual: 4000, long: 100_000 });
const random = new Random();

const page = "/api/trending?region=";
const regions = "/api/regions";
const questions = [
  ...[`${page}DE`, `${page}FR`, `${page}DE&window=week`, `${page}DE&limit=7`, `${page}DE&limit=44`],
  ...[`${page}DE&cursor=1-24`, `${page}DE&limit=7&cursor=1-7`, `${page}DE&limit=7&cursor=2-14`],
  ...[`${page}DE&category=Music`, `${page}DE&category=Gaming`, `${page}FR&category=Music&limit=5&cursor=2-5`],
  ...[regions, "/openapi.json", "/.well-known/jwks.json", "/api/videos/de-1", "/api/videos/fr-2"],
  // The origin refuses these, with a signature or without.
  ...["/api/videos/none", `${page}DE&cursor=1-48`, `${page}DE&category=Sport`, `${page}DE&cursor=9-24`],
];

const failure: Exchange = { status: 500, headers: [], body: "" };
const expiredSeconds = 2000;
const staleSeconds = 300;
const replayedSeconds = 16 * 60; // a minute more than an edge takes

/** The answer as the origin has signed it at another time. */
function signedAt(created: number, { status, headers, body }: Exchange): Exchange {
  const whole = { status, headers: Object.fromEntries(headers), body: Buffer.from(body) };
  return { status, headers: Object.entries(signAgain(whole, created).headers), body };
}

describe("nothing that changes between origin and edge reaches a client", () => {
  const genuine = new Map<string, Exchange>();
  const stored = new Map<string, StoredResponse>();
  let database: TestDatabase;
  let origin: Origin;
  let now: number;
  let tamperer: Tamperer;

  beforeAll(async () => {
    database = makeDatabase(60);
    database.publish();
    origin = await Origin.start(database.path);
    for (const question of questions) genuine.set(question, await record(question));
    now = Math.floor(Date.now() / 1000); // after they were signed
    for (const question of questions) await store(question);
    const replayed = [...genuine.values()].map((one) => signedAt(now - replayedSeconds, one));
    tamperer = new Tamperer(random, [...genuine.values(), ...replayed]);
  }, 1_200_000);
  afterAll(async () => {
    await origin.kill();
    database.remove();
  });

  async function record(question: string): Promise<Exchange> {
    const { status, headers, body } = await exchange(question);
    return { status, headers, body };
  }

  async function exchange(question: string): Promise<Exchange> {
    const response = await origin.fetch(question);
    return { status: response.status, headers: [...response.headers], body: await response.text() };
  }

  async function store(question: string): Promise<void> {
    const { canonical } = canonicalize(new URL(question, "http://a"));
    const { status, headers, body } = genuine.get(question) as Exchange;
    if (canonical === null) throw new Error(question);
    const received = { status, headers: new Headers(headers), body: new TextEncoder().encode(body) };
    const context = { canonical, stored: null, now, keys: JSON.parse(keySet) };
    const validated = await validateOriginResponse(received, context);
    if (validated.kind === "response") stored.set(question, validated.response);
  }

  /** What a client may see: what the edge makes of genuine answers, and of none. */
  async function expected(question: string, held: Omit<Situation, "answer">): Promise<Set<Seen>> {
    const answers = [(target: string) => genuine.get(target) ?? failure, () => failure];
    const seen = new Set<Seen>();
    for (const toQuestion of answers) {
      for (const toRegions of answers) {
        const answer = (target: string) => (target === regions ? toRegions(target) : toQuestion(target));
        for (const one of await askTwice(question, { ...held, answer })) seen.add(one);
      }
    }
    return seen;
  }

  const aged = (question: string, seconds: number): StoredResponse[] => {
    const response = stored.get(question);
    return response === undefined
      ? []
      : [{ ...response, fetchedAt: now - seconds, generatedAt: now - seconds }];
  };
  const situations: [string, (question: string) => Pick<Situation, "stored" | "fallback">][] = [
    ["an empty cache", () => ({ stored: [], fallback: null })],
    ["an expired response", (question) => ({ stored: aged(question, expiredSeconds), fallback: null })],
    ["a stale response", (question) => ({ stored: aged(question, staleSeconds), fallback: null })],
    ["a page in KV", (question) => ({ stored: [], fallback: stored.get(question) ?? null })],
  ];

  test.each(situations)(
    `to an edge with %s (TEST_SEED=${random.seed})`,
    async (_, hold) => {
      const allowed = new Map<string, Set<Seen>>();
      for (const question of questions) {
        allowed.set(question, await expected(question, { ...hold(question), now }));
      }
      for (let draw = 0; draw < draws / situations.length; draw++) {
        const question = random.pick(questions);
        const answers = new Map(
          [question, regions].map((target) => [target, genuine.get(target) ?? failure]),
        );
        const target = random.pick([question, question, regions]);
        answers.set(target, tamperer.change(answers.get(target) ?? failure));
        const answer = (asked: string) => answers.get(asked) ?? failure;
        const seen = await askTwice(question, { ...hold(question), now, answer });
        const strange = seen.filter((one) => !allowed.get(question)?.has(one));
        if (strange.length > 0) expect({ question, answers: [...answers], strange }).toBeNull();
      }
    },
    1_800_000,
  );

  // Others than the edge can write to KV.
  test(`nor what was changed in KV (TEST_SEED=${random.seed})`, async () => {
    const front = `${page}DE`;
    const response = stored.get(front) as StoredResponse;
    const known = { status: response.status, headers: Object.entries(response.headers), body: response.body };
    const answer = () => failure;
    const withoutReplays = new Tamperer(random, [...genuine.values()]); // KV may have an old page
    const allowed = new Set<Seen>();
    for (const fallback of [response, null]) {
      for (const one of await askTwice(front, { stored: [], fallback, now, answer })) allowed.add(one);
    }
    for (let draw = 0; draw < draws / situations.length; draw++) {
      const { status, headers, body } = withoutReplays.change(known);
      const times = random.pick([
        {},
        { fetchedAt: 0, generatedAt: 9e9 },
        { lifetimes: {} },
        { target: regions },
      ]);
      const changed = { ...response, status, headers: Object.fromEntries(headers), body, ...times };
      const fallback = changed as StoredResponse;
      const seen = await askTwice(front, { stored: [], fallback, now, answer });
      if (!seen.every((one) => allowed.has(one))) expect({ fallback, seen }).toBeNull();
    }
    expect(allowed.size).toBe(3); // the page, at once and during the back-off, and 503
  }, 1_800_000);

  test("and the origin's own answers do, of every kind", async () => {
    const answer = (target: string) => genuine.get(target) ?? failure;
    const statuses = new Set<number>();
    for (const question of questions) {
      const [first = ""] = await askTwice(question, { stored: [], fallback: null, now, answer });
      const [status, , body] = JSON.parse(first) as [number, unknown, string];
      expect([question, status, body]).toEqual([question, answer(question).status, answer(question).body]);
      statuses.add(status);
    }
    expect([...statuses].sort()).toEqual([200, 400, 404, 410]);
  });
});
