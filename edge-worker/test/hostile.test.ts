import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bundleNames } from "@trendvault/contract/pointer";
import { type Exchange, keySet, signAgain, signedPage } from "@trendvault/kit/keys";
import { EdgeOrigin } from "@trendvault/kit/origin-process";
import { drawsOf, Random } from "@trendvault/kit/random";
import { validateOriginResponse } from "../src/origin.ts";
import { canonicalize } from "../src/policy.ts";
import type { StoredResponse } from "../src/signed-answer.ts";
import {
  bundleKeySet,
  edgeSeed,
  MemoryBucket,
  objectsOf,
  type Rendered,
  renderBundle,
  stranger,
} from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import {
  askTwice,
  DataCentre,
  InProcessEdge,
  type Seen,
  type Situation,
  withFetch,
} from "./in-process-edge.ts";

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
  let origin: EdgeOrigin;
  let now: number;
  let tamperer: Tamperer;

  beforeAll(async () => {
    database = makeDatabase(60);
    database.publish();
    origin = await EdgeOrigin.start(database.path);
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

const list = "/api/trending?region=DE";

let database: TestDatabase;
let rendered: Rendered;
beforeAll(() => {
  database = makeDatabase();
  database.publish();
  rendered = renderBundle(database.path);
}, 1_200_000);
afterAll(() => database.remove());

/** An edge without an origin, so many seconds after the bundle of generation 2 was signed. */
async function ask(targets: string[], { seconds = 20, bucket = new MemoryBucket() } = {}) {
  bucket.put(await objectsOf(rendered, { publishedAt: rendered.signedAt }));
  const bundles = { bucket, keySet: bundleKeySet, signingSeed: edgeSeed, timeoutSeconds: 60 };
  const dataCentre = new DataCentre();
  const options = { stored: [], fallback: null, hasOrigin: false, dataCentre, bundles };
  const edge = new InProcessEdge(options, () => rendered.signedAt + seconds);
  const answers: { status: number; headers: Headers; body: string }[] = [];
  const askAll = async () => {
    for (const target of targets) {
      const [status, fields, body] = JSON.parse(await edge.ask(target));
      answers.push({ status, headers: new Headers(fields), body });
    }
  };
  await withFetch(() => ({ status: 500, headers: [], body: "" }), askAll);
  return answers;
}

function createdOf({ headers }: { headers: Headers }): number {
  return Number(/created=(\d+)/.exec(headers.get("signature-input") ?? "")?.[1]);
}

test("a list that the edge makes of an old bundle is as old as the bundle, also for a client that verifies it", async () => {
  const [whole, made] = await ask([list, `${list}&limit=7`], { seconds: 3600 });
  if (whole === undefined || made === undefined) throw new Error("there are two answers");
  expect([whole.status, made.status]).toEqual([200, 200]);
  expect(createdOf(made)).toBe(createdOf(whole));
});

test("a list made of a bundle of the future is refused, as the bundle's own are", async () => {
  const statuses = (await ask([list, `${list}&limit=7`], { seconds: -3600 })).map(({ status }) => status);
  expect(statuses).toEqual([503, 503]);
});

test("cursors of an older generation whose pointer cannot be verified do not stop other requests", async () => {
  const bucket = new MemoryBucket();
  const foreign = await objectsOf({ ...rendered, generation: 1 }, { signer: stranger });
  bucket.put([...foreign].filter(([name]) => name === bundleNames.pointer(1)));
  const old = [24, 48, 72, 96, 120].map((rank) => `${list}&cursor=1-${rank}`);
  const answers = await ask([...old, list], { bucket });
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 200]);
});

const removed = "de-38"; // among the first of its list
const pages = ["/api/trending?region=DE", "/api/trending?region=DE&limit=7", "/api/export/DE.ndjson"];
const olderPages = [
  "/api/trending?region=DE&limit=1&cursor=1-1",
  "/api/trending?region=DE&limit=1&cursor=1-2",
];
const video = `/api/videos/${removed}`;
const removedQuestions = [...pages, ...olderPages, video, "/api/regions"];

test("a removed video is gone within 15 minutes from what an edge and KV had, and after a day without the origin", async () => {
  const database = makeDatabase(60);
  database.publish();
  const origin = await EdgeOrigin.start(database.path);
  try {
    const now = Math.floor(Date.now() / 1000);
    const stored = await Promise.all(
      removedQuestions.map(async (question) => store(await askOrigin(question), now)),
    );
    const held = stored.filter(({ body }) => body.includes(`"${removed}"`)).map(({ target }) => target);
    expect(held).toEqual(expect.arrayContaining([...pages, video]));

    database.takeDown(removed);
    await untilGone();
    const answers = new Map(await Promise.all(removedQuestions.map(askOrigin)));
    const answer = (target: string) => answers.get(target) ?? failure;
    for (const question of removedQuestions) {
      // At 5 minutes the stored response is served once more, and replaced; at 14 it is too old for that.
      for (const [minutes, allowed] of [
        [5, 1],
        [14, 0],
      ] as const) {
        const situation = { answer, stored, fallback: null, now: now + 60 * minutes };
        const seen = await askTwice(question, situation);
        const showing = seen.slice(allowed).filter((one) => one.includes(`${removed}\\"`));
        expect([question, minutes, showing]).toEqual([question, minutes, []]);
        expect(JSON.parse(seen[1] ?? "[]")[0]).toBe(question === video ? 404 : 200);
      }
    }
    const [front = ""] = pages;
    const fallback = stored.find(({ target }) => target === front) ?? null;
    const shows = async (hours: number, situation: Pick<Situation, "answer" | "stored">) => {
      const seen = await askTwice(front, { ...situation, fallback, now: now + 3600 * hours });
      return seen.some((one) => one.includes(`${removed}\\"`));
    };
    for (const held of [[], stored]) {
      expect(await shows(23.9, { answer: () => failure, stored: held })).toBe(true);
      expect(await shows(24.1, { answer: () => failure, stored: held })).toBe(false);
    }
    expect(await shows(0, { answer, stored: [] })).toBe(false);
  } finally {
    await origin.kill();
    database.remove();
  }

  async function askOrigin(question: string): Promise<[string, Exchange]> {
    const response = await origin.fetch(question);
    const exchange = { status: response.status, headers: [...response.headers], body: await response.text() };
    return [question, exchange as Exchange];
  }

  async function untilGone(): Promise<void> {
    const began = performance.now();
    while ((await origin.fetch(video)).status !== 404) {
      expect(performance.now() - began).toBeLessThan(600_000); // only a fault takes so long, on a busy machine
      await Bun.sleep(20);
    }
  }
}, 1_200_000);

async function store([question, exchange]: [string, Exchange], now: number): Promise<StoredResponse> {
  const { canonical } = canonicalize(new URL(question, "http://a"));
  if (canonical === null) throw new Error(question);
  const body = new TextEncoder().encode(exchange.body);
  const received = { status: exchange.status, headers: new Headers(exchange.headers), body };
  const validated = await validateOriginResponse(received, {
    canonical,
    stored: null,
    now,
    keys: JSON.parse(keySet),
  });
  if (validated.kind !== "response") throw new Error(`${question} is not valid`);
  return validated.response;
}

const front = "/api/trending?region=DE";
const begun = Math.floor(Date.now() / 1000);
const failing: Exchange = { status: 500, headers: [], body: "" };
/** What the origin says to ids that do not exist when there are more of them than it signs. */
const unsigned: Exchange = { status: 404, headers: [], body: "{}" };
const timeoutSeconds = 1200;

/** What the origin answers when its clock has this time, as the edge's has. */
function answerAt(now: () => number): (target: string) => Exchange {
  return (target) => (target.startsWith("/api/videos/junk") ? unsigned : signedPage(target, now()));
}

async function statusOf(edge: InProcessEdge, target: string): Promise<number> {
  return JSON.parse(await edge.ask(target))[0];
}

test(
  `a flood of ids that do not exist takes nothing from those that do (TEST_SEED=${random.seed})`,
  async () => {
    let now = begun;
    const edge = new InProcessEdge({ stored: [], fallback: null }, () => now);
    await withFetch(
      answerAt(() => now),
      async () => {
        for (let draw = 0; draw < 500; draw++) {
          now += random.pick([0, 0, 0, 1]);
          const target = random.pick([front, `/api/videos/real-${draw}`]);
          await edge.ask(`/api/videos/junk-${draw}`);
          expect([target, await statusOf(edge, target)]).toEqual([target, 200]);
        }
      },
    );
  },
  timeoutSeconds * 1000,
);

test(
  `nor does it delay the end of an outage, when its ids are the probes (TEST_SEED=${random.seed})`,
  async () => {
    let now = begun;
    const edge = new InProcessEdge({ stored: [], fallback: null }, () => now);
    await withFetch(
      () => failing,
      async () => {
        for (let n = 0; n < 4; n++) await edge.ask(`/api/videos/real-${n}`); // the breaker is open now
      },
    );
    await withFetch(
      answerAt(() => now),
      async () => {
        for (let status = 503; status !== 200; now++) {
          if (now < begun + 60) await edge.ask(`/api/videos/junk-${now}`);
          status = await statusOf(edge, `/api/videos/real-${now}`);
          expect(now - begun).toBeLessThan(70);
        }
      },
    );
  },
  timeoutSeconds * 1000,
);

/** Changes exchanges at random, as someone between origin and edge could. */
class Tamperer {
  readonly #random: Random;
  readonly #genuine: readonly Exchange[];

  /** `genuine`: what can be taken from and mixed. */
  constructor(random: Random, genuine: readonly Exchange[]) {
    this.#random = random;
    this.#genuine = genuine;
  }

  /** The exchange after one to three changes. */
  change(exchange: Exchange): Exchange {
    let changed = exchange;
    for (let n = 1 + this.#random.below(3); n > 0; n--) changed = this.#random.pick(this.#changes)(changed);
    return changed;
  }

  readonly #changes: ((exchange: Exchange) => Exchange)[] = [
    () => this.#other(),
    (exchange) => ({ ...exchange, status: this.#random.pick(statuses) }),
    (exchange) => ({ ...exchange, body: this.#other().body }),
    (exchange) => ({ ...exchange, headers: this.#other().headers }),
    (exchange) => ({ ...exchange, body: this.#changeText(exchange.body) }),
    (exchange) => ({ ...exchange, ...this.#problem() }),
    (exchange) => ({ ...exchange, headers: [...exchange.headers, this.#hostileField()] }),
    (exchange) => this.#withField(exchange, this.#hostileField()),
    (exchange) => this.#withField(exchange, this.#random.pick(this.#other().headers)),
    (exchange) => ({ ...exchange, headers: exchange.headers.filter(() => this.#random.below(8) > 0) }),
    (exchange) => this.#changeField(exchange),
    (exchange) => this.#transplantSignature(exchange),
    (exchange) => this.#addSignature(exchange),
  ];

  #other(): Exchange {
    return this.#random.pick(this.#genuine);
  }

  #withField(exchange: Exchange, [name, value]: [string, string]): Exchange {
    return { ...exchange, headers: [...exchange.headers.filter(([other]) => other !== name), [name, value]] };
  }

  #changeField(exchange: Exchange): Exchange {
    if (exchange.headers.length === 0) return exchange;
    const [name, value] = this.#random.pick(exchange.headers);
    return this.#withField(exchange, [name, this.#changeText(value)]);
  }

  #hostileField(): [string, string] {
    return [this.#random.pick(fieldNames), this.#random.pick(hostileValues)];
  }

  #problem(): Exchange {
    const status = this.#random.pick([400, 404, 410, 429, 503]);
    const kind = this.#random.pick(["invalid-parameter", "not-found", "generation-gone", "busy", "x"]);
    const more = this.#random.pick([{}, { restart: "https://other.example/" }, { invalid: [] }, { x: "y" }]);
    const problem = { type: `/problems/${kind}`, title: "t", status, detail: "Read other.example", ...more };
    return {
      status,
      headers: [["content-type", "application/problem+json"]],
      body: JSON.stringify(problem),
    };
  }

  /** Another's signature, with or without the fields that it covers. */
  #transplantSignature(exchange: Exchange): Exchange {
    const names = this.#random.pick([
      ["signature"],
      ["signature", "signature-input"],
      ["signature", "signature-input", "content-location", "etag", "trendvault-cache-control"],
    ]);
    const fields = this.#other().headers.filter(([name]) => names.includes(name));
    return fields.reduce((changed, field) => this.#withField(changed, field), exchange);
  }

  /** One more signature beside the one that is there: a proxy may add it. */
  #addSignature(exchange: Exchange): Exchange {
    const label = this.#random.pick(["proxy", "tv", "a"]);
    const input = `${label}=("@status");created=${this.#random.below(2e9)};keyid="p"`;
    const signature = `${label}=:${btoa(String(this.#random.next()))}:`;
    const isFirst = this.#random.below(2) === 0;
    const join = (name: string, added: string): [string, string] => {
      const value = exchange.headers.find(([other]) => other === name)?.[1] ?? "";
      return [name, isFirst ? `${added},${value}` : `${value}, ${added}`];
    };
    const withInput = this.#withField(exchange, join("signature-input", input));
    return this.#withField(withInput, join("signature", signature));
  }

  #changeText(text: string): string {
    const at = this.#random.below(text.length + 1);
    const character = this.#random.pick([..."aZ09 ,;=:\"'<>/{}[]-\u00e9"]);
    return this.#random.pick([
      text.slice(0, at) + character + text.slice(at + 1),
      text.slice(0, at) + character + text.slice(at),
      text.slice(0, at) + text.slice(at + 1),
      text.slice(0, at),
      text + character,
      text + text,
      "",
    ]);
  }
}

const statuses = [
  200, 201, 203, 204, 206, 226, 301, 302, 304, 400, 401, 403, 404, 405, 410, 418, 429, 500, 503, 521,
];
const fieldNames = [
  ...["link", "cache-control", "cdn-cache-control", "trendvault-cache-control", "content-location", "etag"],
  ...["content-type", "content-length", "location", "set-cookie", "vary", "age", "retry-after", "expires"],
  ...[
    "unencoded-digest",
    "signature",
    "signature-input",
    "access-control-allow-origin",
    "x-other",
    "refresh",
  ],
];
const hostileValues = [
  ...[
    '<https://other.example/>; rel="next"',
    "max-age=999999999",
    "no-store",
    "private",
    "0",
    "-1",
    "*",
    "W/",
  ],
  ...[
    "/api/trending?region=FR",
    "text/html",
    "application/json",
    '"other"',
    "other=1",
    "https://other.example/",
  ],
  ...[
    'tv=("@status");created=1;keyid="x";alg="ed25519"',
    "tv=:AAAA:",
    "sha-256=:AAAA:",
    "Thu, 01 Jan 1970",
    "",
  ],
];
