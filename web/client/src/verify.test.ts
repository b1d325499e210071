import { expect, setSystemTime, test } from "bun:test";
import type { TrendingPage } from "@trendvault/contract/responses";
import { claimsOf } from "@trendvault/contract/token";
import { drawsOf, Random } from "@trendvault/kit/random";
import { TestSigner, TestTokenSigner } from "@trendvault/kit/signers";
import { baseUrl, pageOf } from "../test-support/fake-server.ts";
import { type Answer, connect } from "./connection.ts";
import { trending } from "./index.ts";
import { createVerifier, VerificationError, verifyPageToken } from "./verify.ts";

const target = "/api/trending?region=DE&window=now";
const url = baseUrl + target;
const signer = await TestSigner.create();
const keys = signer.publicKeys;
const now = () => Math.floor(Date.now() / 1000);

async function signedAnswer(
  replaced: Partial<Answer> = {},
  signed: Parameters<TestSigner["sign"]>[1] = {},
): Promise<Answer> {
  const body = new TextEncoder().encode(JSON.stringify(pageOf()));
  const fields = await signer.sign(body, { location: target, created: now(), ...signed });
  return { url, status: 200, headers: new Headers(fields), body, ...replaced };
}

/** The refusal of an answer, or null when it is accepted. */
async function refusalOf(answer: Answer, verify = createVerifier({ keys })): Promise<string | null> {
  try {
    await verify(answer);
    return null;
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return error.refusal;
  }
}

test("an answer as the origin signed it is accepted, also when a proxy weakened its entity tag", async () => {
  expect(await refusalOf(await signedAnswer())).toBeNull();
  const weakened = await signedAnswer();
  weakened.headers.set("etag", `W/${weakened.headers.get("etag")}`);
  expect(await refusalOf(weakened)).toBeNull();
});

test.each([
  ["the canonical address", target],
  ["a default spelled out, and another order", "/api/trending?limit=24&window=now&region=de"],
  ["no region, where the edge knows the visitor's", "/api/trending?window=now"],
])("what was asked may be %s", async (_, asked) => {
  expect(await refusalOf(await signedAnswer({ url: baseUrl + asked }))).toBeNull();
});

test.each([
  ["another region", "/api/trending?region=PL&window=now"],
  ["another window", "/api/trending?region=DE"],
  ["another length", `${target}&limit=10`],
  ["a further page", `${target}&cursor=1-24`],
  ["another path", "/api/regions"],
])("an answer is refused when %s was asked", async (_, asked) => {
  expect(await refusalOf(await signedAnswer({ url: baseUrl + asked }))).toBe("other-question");
});

test("an answer that has no signature, or one of another key, is refused", async () => {
  const unsigned = await signedAnswer();
  unsigned.headers.delete("signature");
  expect(await refusalOf(unsigned)).toBe("unsigned");
  const other = await TestSigner.create("s2");
  expect(await refusalOf(await signedAnswer(), createVerifier({ keys: other.publicKeys }))).toBe(
    "unknown-key",
  );
});

const day = 86_400;

test.each([
  ["as old as a cache may keep it", { created: now() - day }, null],
  ["older than any cache may keep it", { created: now() - day - 1200 }, "outdated"],
  ["older than its own lifetime", { created: now() - 1200, lifetimes: "max-age=120" }, "outdated"],
  ["of a clock that is ahead", { created: now() + 300 }, "outdated"],
])("an answer %s is judged by its signed lifetimes", async (_, signed, refusal) => {
  expect(await refusalOf(await signedAnswer({}, signed))).toBe(refusal);
});

const random = new Random();

function changeCharacter(text: string): string {
  const at = random.below(text.length);
  const code = text.charCodeAt(at) ^ (1 << random.below(6));
  return text.slice(0, at) + String.fromCharCode(Math.max(code, 0x21)) + text.slice(at + 1);
}

/** One change somewhere in what a proxy could change, in words. */
function tamper(answer: Answer): string {
  const field = random.pick([...answer.headers.keys()]);
  const changes = [
    () => {
      const at = random.below(answer.body.length);
      answer.body[at] = (answer.body[at] ?? 0) ^ (1 << random.below(8));
      return `byte ${at} of the body`;
    },
    () => {
      answer.body = answer.body.slice(0, random.below(answer.body.length));
      return "the end of the body";
    },
    () => {
      answer.headers.set(field, changeCharacter(answer.headers.get(field) ?? ""));
      return `${field}: ${answer.headers.get(field)}`;
    },
    () => {
      answer.headers.delete(field);
      return `${field} away`;
    },
    () => {
      const value = random.pick(["region=PL", "window=day", "limit=5", "cursor=1-24", "category=Music"]);
      answer.url = `${baseUrl}/api/trending?${value}`;
      return `asked ${answer.url}`;
    },
    () => {
      answer.status = random.pick([201, 203, 206, 404]);
      return `status ${answer.status}`;
    },
  ];
  return random.pick(changes)();
}

/** Fields with the signature's bytes in place of its text: "Q==" and "R==" are the same byte (RFC 4648, section 3.5). */
function readFields(headers: Headers): [string, string][] {
  const [, base64] = /^tv=:([A-Za-z0-9+/]+==):$/.exec(headers.get("signature") ?? "") ?? [];
  const fields = new Headers(headers);
  if (base64 !== undefined) fields.set("signature", Buffer.from(base64, "base64").toString("hex"));
  return [...fields];
}

test(`a change anywhere in body, fields, status or question is refused (seed ${random.seed})`, async () => {
  for (let draw = 0; draw < drawsOf({ usual: 300, long: 10_000 }); draw++) {
    const answer = await signedAnswer();
    const before = new Headers(answer.headers);
    const change = tamper(answer);
    const isWeakened = answer.headers.get("etag") === `W/${before.get("etag")}`;
    const isSame = JSON.stringify(readFields(answer.headers)) === JSON.stringify(readFields(before));
    const isFieldChange = !/byte|end|asked|status/.test(change);
    if (isWeakened || (isFieldChange && isSame)) continue; // the change was none
    expect({ change, refusal: await refusalOf(answer) }).not.toEqual({ change, refusal: null });
  }
});

test("the keys are fetched once, again for a key that is not known, and again after a failure", async () => {
  const answers = [new Response("", { status: 500 }), Response.json({ keys: [] }), Response.json(keys)];
  const asked: string[] = [];
  const verify = createVerifier({
    baseUrl,
    fetch: async (address) => {
      asked.push(address);
      return (answers[asked.length - 1] ?? answers[2])?.clone() as Response;
    },
  });
  const answer = await signedAnswer();
  await expect(verify(answer)).rejects.toThrow("Cannot read the public keys: status 500");
  // A set without the key of the answer is read again at most once a minute.
  expect(await refusalOf(answer, verify)).toBe("unknown-key");
  expect(await refusalOf(answer, verify)).toBe("unknown-key");
  expect(asked).toEqual(Array(2).fill(`${baseUrl}/.well-known/jwks.json`));
});

test("a key that was taken out of the key set is not believed for the life of a page", async () => {
  const began = Date.now();
  let published: object = keys;
  let asked = 0;
  const fetch = async () => {
    asked++;
    return Response.json(published);
  };
  const verify = createVerifier({ baseUrl, fetch });
  const other = await TestSigner.create("s2");
  try {
    // From here on the clock stands: the life of a key begins when it is read, which may be a millisecond later.
    setSystemTime(began);
    expect(await refusalOf(await signedAnswer(), verify)).toBeNull();
    published = other.publicKeys;
    for (const [seconds, refusal] of [
      [719, null],
      [720, "unknown-key"],
    ] as const) {
      setSystemTime(began + seconds * 1000);
      expect([seconds, await refusalOf(await signedAnswer(), verify)]).toEqual([seconds, refusal]);
    }
    expect(asked).toBe(2);
  } finally {
    setSystemTime();
  }
});

test("a new key is found although the clock was set back since keys were read", async () => {
  const began = Date.now();
  const other = await TestSigner.create("s2");
  let published: object = other.publicKeys;
  const verify = createVerifier({ baseUrl, fetch: async () => Response.json(published) });
  try {
    setSystemTime(began);
    const answer = await signedAnswer();
    setSystemTime(began + 300_000);
    expect(await refusalOf(answer, verify)).toBe("unknown-key");
    published = keys;
    setSystemTime(began);
    expect(await refusalOf(answer, verify)).toBeNull();
  } finally {
    setSystemTime();
  }
});

const tokenSigner = await TestTokenSigner.create();
const minute = 29_921_040;
const servedAt = minute * 60;

/** A page of ranks 3 and 4 of a list of DE, with the token of it. */
async function signedPage(category: string | null = null, language?: string): Promise<TrendingPage> {
  const page = {
    ...pageOf({ generation: 7, offset: 2 }),
    region: "DE",
    window: "now",
    category,
    ...(language !== undefined && { language }),
  } as TrendingPage;
  const list = {
    region: "DE",
    window: "now",
    category: language === undefined ? await named(category) : `#language:${language}`,
    generation: 7,
    offset: 2,
    count: 2,
  } as const;
  return { ...page, token: await tokenSigner.sign(claimsOf(list, minute)) };
}

async function named(category: string | null): Promise<string> {
  if (category === null || category.length < 50) return category ?? "";
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(category));
  return `#${new Uint8Array(digest).toBase64({ alphabet: "base64url" }).slice(0, 22)}`;
}

const verify = (page: TrendingPage, at = servedAt) => verifyPageToken(page, tokenSigner.publicKeys, at);

test.each([[null], ["News & Politics"], ["Ж".repeat(60)]])(
  "the token of a page of category %p is accepted",
  async (category) => {
    await verify(await signedPage(category));
  },
);

test("the token of the list of a language is accepted with that language alone", async () => {
  const page = await signedPage(null, "de");
  await verify(page);
  const { language: _, ...all } = page;
  for (const other of [
    all,
    { ...page, language: "en" },
    { ...page, audience: "kids" },
    { ...all, live: "now" },
    { ...page, category: "Music" },
    { ...all, category: "#language:de" },
  ]) {
    await expect(verify(other)).rejects.toMatchObject({ refusal: "other-list" });
  }
});

test.each<[string, Partial<TrendingPage>]>([
  ["another region", { region: "PL" }],
  ["another window", { window: "day" }],
  ["another category", { category: "Music" }],
  ["a language", { language: "de" }],
  ["another generation", { generation: 8 }],
  ["other ranks", { items: pageOf({ offset: 0 }).items }],
])("the token is refused on a page of %s", async (_, replaced) => {
  expect(verify({ ...(await signedPage()), ...replaced })).rejects.toMatchObject({ refusal: "other-list" });
});

test("a page without one of its items, because its video was removed, is still the token's", async () => {
  const page = await signedPage();
  await verify({ ...page, items: page.items.slice(1) });
});

test("the token is refused after 15 minutes, and when it was changed", async () => {
  const page = await signedPage();
  await expect(verify(page, servedAt + 901)).rejects.toMatchObject({ refusal: "expired" });
  const token = page.token.replace(/.(?=.{20}$)/, (letter) => (letter === "A" ? "B" : "A"));
  await expect(verify({ ...page, token })).rejects.toMatchObject({ refusal: "tampered" });
});

test("a connection that verifies gives what is signed, also of a 304, and throws for what was changed", async () => {
  const signer = await TestSigner.create();
  const original = JSON.stringify(pageOf());
  let body = original;
  const fetch = async (request: Request) => {
    if (request.headers.has("if-none-match")) return new Response(null, { status: 304 });
    const created = Math.floor(Date.now() / 1000);
    const fields = await signer.sign(original, { location: "/api/trending?region=DE", created });
    return new Response(body, { headers: fields });
  };
  const connection = { baseUrl, fetch, verify: createVerifier({ keys: signer.publicKeys }) };
  const client = connect(connection);
  for (const _ of [1, 2]) expect((await trending({ client, region: "DE" })).items).toHaveLength(2);
  await expect(trending({ client, region: "PL" })).rejects.toMatchObject({ refusal: "other-question" });
  body = body.replace('"rank":1', '"rank":3');
  const changed = trending({ client: connect(connection), region: "DE" });
  await expect(changed).rejects.toBeInstanceOf(VerificationError);
});
