import { describe, expect, test } from "bun:test";
import { drawsOf, Random } from "@trendvault/kit/random";
import { TestSigner } from "@trendvault/kit/signers";
import { verifyIndependently } from "@trendvault/kit/verifiers";
import { createSignature, webcrypto } from "http-message-sig";
import {
  type SignatureVerdict,
  unencodedDigest,
  verifyResponse,
  verifySignature,
} from "./response-signature.ts";
import { coveredComponents } from "./signature-base.ts";

/** An answer that a test signer has signed, and what of it a test may change. */
const created = 1_795_176_030;
const signer = await TestSigner.create();
const text = '{"region":"DE"}';
const fields = await signer.sign(text, { created });
const [inputOfOurs = "", signatureOfOurs = ""] = [fields["signature-input"], fields.signature];

/** The verdict on it with fields, status or body changed. */
function verify(changed: Record<string, string> = {}, message: { status?: number; text?: string } = {}) {
  const { status = 200, text: received = text } = message;
  const headers = new Headers({ ...fields, ...changed });
  return verifyResponse({ status, headers, body: new TextEncoder().encode(received) }, signer.publicKeys);
}

test("the origin's signature is valid", async () => {
  expect(await verify()).toBe("valid");
});

describe("a key that is delegated to the edge signs", () => {
  const keys = { keys: signer.publicKeys.keys.map((key) => ({ ...key, delegated_to: "edge" as const })) };
  test.each<[SignatureVerdict, number, string]>([
    ["valid", 200, "/api/trending?region=DE&window=24h&limit=7"],
    ["valid", 404, "/api/videos/none"],
    ["unknown-key", 200, "/.well-known/jwks.json"],
    ["valid", 200, "/api/regions"],
    ["unknown-key", 200, "/api/videos/abc"],
    ["unknown-key", 200, "/api/trending-of-others?region=DE"],
    ["unknown-key", 200, "/?region=DE&window=24h"],
    ["unknown-key", 200, ""],
  ])("%s: %d of %s", async (verdict, status, location) => {
    const headers = new Headers(await signer.sign(text, { status, location, created }));
    const message = { status, headers, body: new TextEncoder().encode(text) };
    expect(await verifyResponse(message, keys)).toBe(verdict);
    expect(await verifyResponse(message, signer.publicKeys)).toBe("valid");
  });
});

describe("as RFC 9421 allows, the signature stays valid when a proxy", () => {
  const proxyInput = '("@status" "date";req);created=1;keyid="p";tag="a, b;c"';
  const proxySignature = `:${btoa("x".repeat(64))}:`;
  test.each([
    [
      "adds a signature behind it",
      `${inputOfOurs}, proxy=${proxyInput}`,
      `${signatureOfOurs}, proxy=${proxySignature}`,
    ],
    [
      "adds a signature before it",
      `proxy=${proxyInput},${inputOfOurs}`,
      `proxy=${proxySignature},${signatureOfOurs}`,
    ],
    [
      "orders the two fields differently",
      `${inputOfOurs}, proxy=${proxyInput}`,
      `proxy=${proxySignature},\t${signatureOfOurs}`,
    ],
    ["renames the label", inputOfOurs.replace("tv=", "origin="), signatureOfOurs.replace("tv=", "origin=")],
    [
      "writes other whitespace",
      ` ${inputOfOurs.replace("(", "(  ").replaceAll(";", "; ")} `,
      ` ${signatureOfOurs} `,
    ],
    [
      "adds one with our key id over other components",
      `proxy=("@status");created=1;keyid="s1";alg="ed25519", ${inputOfOurs}`,
      `proxy=${proxySignature}, ${signatureOfOurs}`,
    ],
    [
      "adds one that claims to be ours",
      `${inputOfOurs.replace("tv=", "fake=")}, ${inputOfOurs}`,
      `fake=${proxySignature}, ${signatureOfOurs}`,
    ],
  ])("%s", async (_, input, signature) => {
    expect(await verify({ "signature-input": input, signature })).toBe("valid");
  });
});

test("of a valid response the origin's fields are given as the origin wrote them, and when it signed", async () => {
  const proxied = {
    "signature-input": `proxy=("@status");created=1;keyid="s1",  ${inputOfOurs.replace("tv=", "renamed=")}`,
    signature: `proxy=:AAAA:, ${signatureOfOurs.replace("tv=", "renamed=")}`,
  };
  const headers = new Headers({ ...fields, ...proxied });
  const verified = await verifySignature(
    { status: 200, headers, body: new TextEncoder().encode(text) },
    signer.publicKeys,
  );
  const { "signature-input": input, signature, ...covered } = fields;
  const signatureFields = { "signature-input": input, signature };
  expect(verified).toEqual({ verdict: "valid", fields: covered, signatureFields, created });
});

test("of two valid signatures the later one counts", async () => {
  const later = await signer.sign(text, { created: created + 60 });
  const headers = new Headers({
    ...fields,
    "signature-input": `${inputOfOurs}, later=${later["signature-input"].slice(3)}`,
    signature: `${signatureOfOurs}, later=${later.signature.slice(3)}`,
  });
  const response = { status: 200, headers, body: new TextEncoder().encode(text) };
  expect(await verifySignature(response, signer.publicKeys)).toMatchObject({ created: created + 60 });
});

describe("not valid is", () => {
  const cases: [string, Record<string, string>, SignatureVerdict][] = [
    ["no signature", { signature: "" }, "unsigned"],
    ["no input", { "signature-input": "" }, "unsigned"],
    ["a signature under another label", { signature: signatureOfOurs.replace("tv", "other") }, "unsigned"],
    ["a field that is no dictionary", { "signature-input": `${inputOfOurs},` }, "unsigned"],
    ["a signature that is text", { signature: 'tv="abc"' }, "unsigned"],
    ["an item instead of an inner list", { "signature-input": 'tv="@status"' }, "unsigned"],
    ["a component less", { "signature-input": inputOfOurs.replace(' "etag"', "") }, "unsigned"],
    ["a component more", { "signature-input": inputOfOurs.replace('"etag"', '"etag" "date"') }, "unsigned"],
    [
      "another order",
      { "signature-input": inputOfOurs.replace(/("@status") ("[a-z-]+")/, "$2 $1") },
      "unsigned",
    ],
    [
      "a component with a parameter",
      { "signature-input": inputOfOurs.replace('"etag"', '"etag";sf') },
      "unsigned",
    ],
    ["another algorithm", { "signature-input": inputOfOurs.replace("ed25519", "hmac-sha256") }, "unsigned"],
    ["an unknown parameter", { "signature-input": `${inputOfOurs};expires=2` }, "unsigned"],
    ["another key", { "signature-input": inputOfOurs.replace('"s1"', '"s2"') }, "unknown-key"],
    [
      "another time",
      { "signature-input": inputOfOurs.replace(`${created}`, `${created + 1}`) },
      "signature-differs",
    ],
    [
      "another order of parameters",
      { "signature-input": inputOfOurs.replace(/(;created=\d+)(;keyid="s1")/, "$2$1") },
      "signature-differs",
    ],
    ["another type", { "content-type": "text/html" }, "signature-differs"],
    ["another entity tag", { etag: '"other"' }, "signature-differs"],
    ["another question", { "content-location": "/api/trending?region=FR" }, "signature-differs"],
    ["no question", { "content-location": "" }, "signature-differs"],
    ["another lifetime", { "trendvault-cache-control": "max-age=999999999" }, "signature-differs"],
    ["a short signature", { signature: "tv=:AAAA:" }, "signature-differs"],
    ["another digest", { "unencoded-digest": "sha-256=:AAAA:" }, "digest-differs"],
  ];
  test.each(cases)("%s", async (_, changed, verdict) => {
    expect(await verify(changed)).toBe(verdict);
  });

  test("another status or body", async () => {
    expect(await verify({}, { status: 203 })).toBe("signature-differs");
    expect(await verify({}, { text: "{}" })).toBe("digest-differs");
    const digest = { "unencoded-digest": await unencodedDigest(new TextEncoder().encode("{}")) };
    expect(await verify(digest, { text: "{}" })).toBe("signature-differs");
  });
});

describe("drawn at random", () => {
  const random = new Random();
  const { seed } = random;
  const below = (limit: number) => random.below(limit);
  const pick = <T>(choices: readonly T[]): T => random.pick(choices);
  const draws = drawsOf({ usual: 200, long: 5000 });

  /** The same two fields, as a proxy may write them: another label, other signatures, other whitespace. */
  function rewrite(input: string, signature: string): Record<string, string> {
    const label = pick(["tv", "sig1", "*a-b.c_d", "origin"]);
    const [inputs, signatures] = [[`${label}=${input}`], [`${label}=${signature}`]];
    for (let n = below(4); n > 0; n--) {
      const [other, at] = [`p${n}`, below(inputs.length + 1)];
      const components = pick(["", '"@status"', '"date" "via";req', '"x, (y)";key="a\\"b"']);
      inputs.splice(at, 0, `${other}=(${components});created=${below(1e9)};keyid="${pick(["s1", "p"])}"`);
      signatures.splice(below(signatures.length + 1), 0, `${other}=:${btoa(String(random.next()))}:`);
    }
    const comma = () => `${pick(["", " ", "\t", "  "])},${pick(["", " ", "\t \t"])}`;
    const join = (members: string[]) => members.reduce((left, right) => left + comma() + right);
    return { "signature-input": join(inputs), signature: join(signatures) };
  }

  /** Other whitespace between components and before parameters: the same structured value. */
  function respace(input: string): string {
    return input
      .replace(/[( ](?=")/g, (found) => found + " ".repeat(below(3)))
      .replace(/;(?=[a-z])/g, (found) => found + " ".repeat(below(3)));
  }

  test(`ours stays valid (TEST_SEED=${seed})`, async () => {
    for (let n = 0; n < draws; n++) {
      const changed = rewrite(respace(inputOfOurs.slice(3)), signatureOfOurs.slice(3));
      expect([await verify(changed), changed]).toEqual(["valid", changed]);
    }
  });

  test(`a change of any character of ours makes it invalid (TEST_SEED=${seed})`, async () => {
    for (let n = 0; n < draws; n++) {
      const name = pick(Object.keys(fields) as (keyof typeof fields)[]);
      const value = fields[name];
      const first = name.startsWith("signature") ? 3 : 0; // the label may change
      const last = name === "signature" ? value.length - 4 : value.length; // "Q==:" and "R==:" are the same bytes
      const at = first + below(last - first);
      const character = pick([...'abcXYZ0189+/=:;"()-_'].filter((other) => other !== value[at]));
      const damaged: Record<string, string> = {
        ...fields,
        [name]: value.slice(0, at) + character + value.slice(at + 1),
      };
      const { "signature-input": input = "", signature = "" } = damaged;
      const changed = { ...damaged, ...rewrite(input.slice(3), signature.slice(3)) };
      const verdict = await verify(changed);
      expect([verdict === "valid", changed]).toEqual([false, changed]);
    }
  });
});

describe("an independent implementation of RFC 9421", () => {
  const message = (headers: Record<string, string>) => ({
    kind: "response" as const,
    status: 200,
    fields: Object.entries(headers).map(([name, value]) => ({ name, value })),
  });

  test.each([200, 404])("verifies what we sign with status %p", async (status) => {
    const body = { status, created: Math.floor(Date.now() / 1000) };
    const headers = new Headers(await signer.sign(text, body));
    await verifyIndependently({ status, headers }, signer.publicKeys);
    for (const name of coveredComponents.slice(1)) {
      const changed = new Headers({ ...Object.fromEntries(headers), [name]: '"other"' });
      await expect(verifyIndependently({ status, headers: changed }, signer.publicKeys)).rejects.toThrow();
    }
  });

  test.each([
    [{ created, keyid: "s1", alg: "ed25519" }],
    [{ alg: "ed25519", keyid: "s1", created }],
    [{ keyid: "s1", created, alg: "ed25519" }],
  ])("signs what we verify, with the parameters %j", async (parameters) => {
    const { signature: _, "signature-input": __, ...unsigned } = fields;
    const independent = await createSignature(message(unsigned), {
      label: "independent",
      components: coveredComponents,
      parameters,
      signer: webcrypto.signer(signer.keyPair.privateKey),
    });
    const changed = { "signature-input": independent.signatureInput, signature: independent.signature };
    expect(await verify(changed)).toBe("valid");
    expect(await verify({ ...changed, etag: '"other"' })).toBe("signature-differs");
  });
});
