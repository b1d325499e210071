import { describe, expect, test } from "bun:test";
import { drawsOf, Random } from "@trendvault/kit/random";
import { TestPublicationSigner, TestSigner, TestTokenSigner, type Unsigned } from "@trendvault/kit/signers";
import type { PublicKeySet } from "./keys.ts";
import {
  type BundlePointer,
  bundleNames,
  hashPointer,
  longestPointer,
  objectNames,
  type Pointer,
  type VerifiedPointer,
  verifyBundlePointer,
  verifyPointer,
} from "./pointer.ts";
import vectorFile from "./pointer-vectors.json";
import { verifyResponse } from "./response-signature.ts";
import { claimsOf, verifyToken } from "./token.ts";

/** What is valid has what was signed, without its signature, and the SHA-256 of its bytes. */
type Vector<Kind> = {
  name: string;
  text: string;
  expect: VerifiedPointer<unknown>["verdict"];
  pointer?: Unsigned<Kind>;
  sha256?: string;
};
const pointers = vectorFile.pointers as Vector<Pointer>[];
const bundlePointers = vectorFile.bundle_pointers as Vector<BundlePointer>[];
const keys = { keys: vectorFile.keys } as PublicKeySet;
const signers = await Promise.all(
  vectorFile.seeds.map((seed) => TestPublicationSigner.create(Buffer.from(seed, "base64url"))),
);
/** After all that the vectors have. */
const reader = { keys, store: vectorFile.store, now: Date.parse("2029-01-01T00:00:00Z") / 1000 };
const random = new Random();

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function signerOf(kid: string): TestPublicationSigner {
  return signers.find(({ publicKey }) => publicKey.kid === kid) as TestPublicationSigner;
}

describe("pointer vector", () => {
  test.each(pointers)("$name", async ({ text, expect: verdict, pointer, sha256 }) => {
    const read = await verifyPointer(bytesOf(text), reader);
    expect(read.verdict).toBe(verdict);
    if (pointer === undefined) return;
    expect(read).toEqual({ verdict: "valid", pointer: { ...JSON.parse(text), ...pointer, version: 2 } });
    expect(await hashPointer(bytesOf(text))).toBe(sha256 as string);
    expect(await signerOf(pointer.kid).signPointer(pointer)).toEqual(bytesOf(text));
    expect(text.length).toBeLessThanOrEqual(longestPointer);
  });

  test.each(bundlePointers)("of a bundle: $name", async ({ text, expect: verdict, pointer, sha256 }) => {
    const read = await verifyBundlePointer(bytesOf(text), reader);
    expect(read.verdict).toBe(verdict);
    if (pointer === undefined) return;
    expect(read).toEqual({ verdict: "valid", pointer: { ...JSON.parse(text), ...pointer, version: 2 } });
    expect(await hashPointer(bytesOf(text))).toBe(sha256 as string);
    expect(await signerOf(pointer.kid).signBundlePointer(pointer)).toEqual(bytesOf(text));
  });

  test("every verdict has one", () => {
    const verdicts = new Set(pointers.map((vector) => vector.expect));
    expect([...verdicts].sort()).toEqual([
      "malformed",
      "other-store",
      "other-version",
      "tampered",
      "unknown-key",
      "valid",
    ]);
  });
});

test("objects are called as the vectors say", () => {
  const { names } = vectorFile;
  const { generation, sha256 } = names;
  expect(objectNames.current).toBe("current.json");
  expect(objectNames.pointer(generation)).toBe(names.pointer);
  expect(objectNames.pack(names.day)).toBe(names.pack);
  expect(objectNames.generation({ generation, sha256 })).toBe(names.generation_file);
  expect(bundleNames.pointer(generation)).toBe(names.bundle_pointer);
  expect(bundleNames.bundle({ generation, sha256 })).toBe(names.bundle);
});

test("a pointer's members may come in any order when it is signed", async () => {
  const [{ pointer, text }] = pointers.filter((vector) => vector.pointer?.previous) as [
    Required<Vector<Pointer>>,
  ];
  const { file, previous, ...others } = pointer;
  const shuffled = {
    previous: previous && { sha256: previous.sha256, generation: previous.generation },
    file: { bytes: file.bytes, sha256: file.sha256 },
    ...others,
  };
  expect(await signerOf(pointer.kid).signPointer(shuffled)).toEqual(bytesOf(text));
});

test("bytes that are not UTF-8 are malformed", async () => {
  const bytes = bytesOf((pointers[1] as Vector<Pointer>).text);
  bytes[40] = 0xff;
  expect((await verifyPointer(bytes, reader)).verdict).toBe("malformed");
});

test("of two keys with one id, the one that signed is found", async () => {
  const [first, second] = signers as [TestPublicationSigner, TestPublicationSigner];
  const other = { ...second.publicKey, kid: first.publicKey.kid };
  const { text } = pointers[1] as Vector<Pointer>;
  const both = { keys: [other, first.publicKey] };
  const verified = await verifyPointer(bytesOf(text), { ...reader, keys: both });
  expect(verified.verdict).toBe("valid");
});

test(`one character changed anywhere is refused (TEST_SEED=${random.seed})`, async () => {
  const valid = pointers.filter(({ pointer }) => pointer !== undefined);
  for (let draw = 0; draw < drawsOf({ usual: 500, long: 20_000 }); draw++) {
    const { text } = random.pick(valid);
    const at = random.below(text.length);
    const character = random.pick([...'aZ09-_"{}:, \\u\n', ""]);
    const changed = text.slice(0, at) + character + text.slice(at + 1);
    if (changed === text) continue;
    const { verdict } = await verifyPointer(bytesOf(changed), reader);
    if (verdict === "valid") expect({ changed }).toBeNull();
  }
});

test(`a pointer of another store is refused, whatever its name (TEST_SEED=${random.seed})`, async () => {
  const [signer] = signers as [TestPublicationSigner];
  const [{ pointer }] = pointers as [Required<Vector<Pointer>>];
  const [{ pointer: ofBundle }] = bundlePointers as [Required<Vector<BundlePointer>>];
  const names = () =>
    random.pick([drawName(), vectorFile.store, `${vectorFile.store}${drawName()}`.slice(0, 100)]);
  for (let draw = 0; draw < drawsOf({ usual: 200, long: 10_000 }); draw++) {
    const [written, read] = [names(), names()];
    const expected = written === read ? "valid" : "other-store";
    const own = { ...reader, keys: { keys: [signer.publicKey] }, store: read };
    const bytes = await signer.signPointer({ ...pointer, store: written });
    const bundle = await signer.signBundlePointer({ ...ofBundle, store: written });
    const { verdict } = await verifyPointer(bytes, own);
    expect({ written, read, verdict }).toEqual({ written, read, verdict: expected });
    expect((await verifyBundlePointer(bundle, own)).verdict).toBe(expected);
    expect(bytes.length).toBeLessThanOrEqual(longestPointer);
  }
});

/** As a bucket and a prefix may be called. */
function drawName(): string {
  const part = () => random.pick(["a", "lists", "production", "staging", "gb", "A.b_c-9", "x".repeat(63)]);
  return Array.from({ length: 1 + random.below(3) }, part)
    .join(random.pick(["/", "-", "."]))
    .slice(0, 100);
}

test(`a time further ahead than clocks differ is refused (TEST_SEED=${random.seed})`, async () => {
  const valid = pointers.filter(({ pointer }) => pointer !== undefined);
  for (let draw = 0; draw < 200; draw++) {
    const { text, pointer } = random.pick(valid) as Required<Vector<Pointer>>;
    const ahead = random.pick([random.below(61), -random.below(1e6), 61 + random.below(1e9)]);
    const now = Date.parse(pointer.published_at) / 1000 - ahead;
    const { verdict } = await verifyPointer(bytesOf(text), { ...reader, store: pointer.store, now });
    expect({ ahead, verdict }).toEqual({ ahead, verdict: ahead > 60 ? "from-future" : "valid" });
  }
});

test("a key of publications verifies no response, and no token", async () => {
  const signer = await TestSigner.create();
  const body = bytesOf("{}");
  const response = { status: 200, headers: new Headers(await signer.sign(body)), body };
  const asPurpose = (purpose: "responses" | "publications", { keys }: PublicKeySet): PublicKeySet => ({
    keys: keys.map((key) => ({ ...key, purpose })),
  });
  expect(await verifyResponse(response, asPurpose("responses", signer.publicKeys))).toBe("valid");
  expect(await verifyResponse(response, asPurpose("publications", signer.publicKeys))).toBe("unknown-key");

  const tokens = await TestTokenSigner.create();
  const list = { region: "GB", window: "day", category: "", generation: 1, offset: 0, count: 1 } as const;
  const token = await tokens.sign(claimsOf(list, 1));
  expect((await verifyToken(token, tokens.publicKeys, { now: 60 })).verdict).toBe("valid");
  const republished = asPurpose("publications", tokens.publicKeys);
  expect((await verifyToken(token, republished, { now: 60 })).verdict).toBe("unknown-key");
});
