import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Pointer } from "@trendvault/contract/pointer";
import { Random } from "@trendvault/kit/random";
import { testStoreName } from "@trendvault/kit/signers";
import { FollowerProcess } from "../test-support/test-follower.ts";
import { TestPublisher } from "../test-support/test-publisher.ts";
import { TestStore } from "../test-support/test-store.ts";

const random = new Random();
let store: TestStore;
let publisher: TestPublisher;
let pointers: Pointer[];

beforeEach(async () => {
  store = await TestStore.create();
  publisher = await TestPublisher.create(store);
  pointers = [];
  for (let count = 0; count < 6; count++) pointers.push(await publisher.publish());
});

afterEach(() => store.remove());

async function verify(...argv: string[]): Promise<{ code: number; said: string }> {
  const program = new FollowerProcess(
    argv.length === 0 || argv[0]?.startsWith("-")
      ? [store.folder, "--name", testStoreName, ...argv]
      : [...argv, "--name", testStoreName],
    { ...store.settings, FOLLOW_JWKS: publisher.jwks },
    "verify-history.ts",
  );
  const code = await program.ended();
  return { code, said: program.lines.map(({ message }) => message).join("\n") + program.stderr };
}

function pack(day: string, generations: number[]): void {
  const lines = generations.map((generation) => `${store.read(`pointers/${generation}.json`)}\n`).join("");
  store.write(`pointers/packed/${day}.jsonl.gz`, Bun.gzipSync(lines));
  for (const generation of generations) store.delete(`pointers/${generation}.json`);
}

test("a whole history is said to be so, of a bucket and of a folder", async () => {
  for (const address of [store.address, store.folder])
    expect(await verify(address)).toEqual({
      code: 0,
      said: expect.stringMatching(
        /^whole: 6 pointers, from generation 101 \(.*\) to 106 \(.*\), 0 packs\ndata: 6 there, 0 thinned$/,
      ),
    });
});

test("pointers in packs are part of it, and thinned data is counted", async () => {
  pack("2026-11-20", [101, 102]);
  pack("2026-11-21", [103]);
  for (const { generation, file } of pointers.slice(0, 4))
    store.delete(`generations/${generation}-${file.sha256}.db.gz`);
  const { code, said } = await verify("--data");
  expect(said).toContain("to 106");
  expect(said).toContain("2 packs\ndata: 2 there, 4 thinned");
  expect(code).toBe(0);
});

test("a pointer that is in a pack and loose is counted once", async () => {
  const loose = store.read("pointers/101.json");
  pack("2026-11-20", [101]);
  store.write("pointers/101.json", loose);
  expect((await verify()).said).not.toContain("aside");
});

test("a pointer that is gone is the break: its generation and its hash are named", async () => {
  store.delete("pointers/103.json");
  const { code, said } = await verify();
  expect(code).toBe(1);
  expect(said).toStartWith(
    `broken at generation 103: expected a pointer with the SHA-256 ${pointers[3]?.previous?.sha256}, as generation 104 says; found nothing`,
  );
});

test("a pointer that was signed anew, by the right key, is found: the hash of it differs", async () => {
  const rewritten = await publisher.signer.signPointer({
    ...(pointers[2] as Pointer),
    published_at: "2026-01-01T00:00:00Z",
  });
  store.write("pointers/103.json", rewritten);
  const { code, said } = await verify();
  expect(code).toBe(1);
  expect(said).toMatch(
    /^broken at generation 103: expected .* as generation 104 says; found pointers\/103.json with /,
  );
});

test("all of the history signed anew is found with a pointer that somebody kept", async () => {
  const kept = store.path("kept");
  writeFileSync(kept, `${store.read("pointers/102.json")}\n${store.read("pointers/105.json")}\n`);
  expect((await verify("--kept", kept)).code).toBe(0);
  publisher.bytes = null;
  publisher.generation = 100;
  for (let count = 0; count < 6; count++) await publisher.publish({ signedAt: Date.now() - 3_600_000 });
  expect((await verify()).code).toBe(0);
  const { code, said } = await verify("--kept", kept);
  expect(code).toBe(1);
  expect(said).toStartWith("broken at generation 102: expected the pointer that was kept");
});

test("current.json that is not the pointer of its generation is the break", async () => {
  store.delete("pointers/106.json");
  const { code, said } = await verify();
  expect(code).toBe(1);
  expect(said).toStartWith("broken at generation 106: expected pointers/106.json");
});

test("an object that was changed is found with --data, and one that is missing for the newest always", async () => {
  const [first, newest] = [pointers[0] as Pointer, pointers[5] as Pointer];
  store.write(`generations/101-${first.file.sha256}.db.gz`, "changed");
  expect((await verify()).code).toBe(0);
  const { code, said } = await verify("--data");
  expect(code).toBe(1);
  expect(said).toStartWith(`broken at generation 101: expected an object of ${first.file.bytes} bytes`);
  store.delete(`generations/106-${newest.file.sha256}.db.gz`);
  expect((await verify()).said).toStartWith("broken at generation 106: expected generations/106-");
});

test("a pointer that lost against another one is no break", async () => {
  const aside = await publisher.signer.signPointer({ ...(pointers[2] as Pointer), generation: 199 });
  store.write("pointers/199.json", aside);
  const { code, said } = await verify();
  expect(code).toBe(0);
  expect(said).toContain("aside: 1 pointer that the chain does not name");
});

test("a clock that was behind for a while is said, and is no break", async () => {
  await publisher.publish({ signedAt: Date.now() - 3_600_000 });
  const { code, said } = await verify();
  expect(code).toBe(0);
  expect(said).toMatch(/strange: generation 106 was signed at .*: a clock was wrong/);
});

test("a pointer that says it was signed in the future is a break", async () => {
  await publisher.publish({ signedAt: Date.now() + 3_600_000 });
  const { code, said } = await verify();
  expect(code).toBe(1);
  expect(said).toContain("found current.json, which is from-future");
});

test("junk among the pointers hides nothing, however large it becomes", async () => {
  store.write("pointers/7.json", "x".repeat(100_000));
  store.write("pointers/packed/2026-11-01.jsonl.gz", "no gzip");
  store.write("pointers/packed/2026-11-02.jsonl.gz", Bun.gzipSync(Buffer.alloc(70_000_000)));
  store.write("pointers/8\nwhole: \u001b[2J\u202e", "");
  const { code, said } = await verify();
  expect(code).toBe(0);
  expect(said.match(/^strange: /gm)).toHaveLength(4);
  expect(said).toContain("pointers/8\\u000awhole: \\u001b[2J\\u202e is no pointer");
  store.delete("pointers/103.json");
  expect((await verify()).said).toStartWith("broken at generation 103");
}, 1_200_000);

test("an object that somebody made larger is not read to its end", async () => {
  const [first] = pointers as [Pointer];
  store.write(`generations/101-${first.file.sha256}.db.gz`, Buffer.alloc(first.file.bytes + 1_000_000));
  expect((await verify("--data")).said).toContain(`found more than ${first.file.bytes} bytes`);
});

test("a pointer of another store that the same key has signed is a break, wherever it is in the chain", async () => {
  const at = 102 + random.below(5);
  publisher.generation = at - 1;
  publisher.bytes = Uint8Array.from(store.read(`pointers/${at - 1}.json`));
  const { signer } = publisher;
  const other = await TestPublisher.create(store, { generation: at - 1, signer, name: "trendvault/staging" });
  other.bytes = publisher.bytes;
  await other.publish();
  publisher.generation = at;
  publisher.bytes = other.bytes;
  for (let generation = at; generation < 106; generation++) await publisher.publish();
  const { code, said } = await verify();
  expect(code).toBe(1);
  expect(said).toContain("which is other-store");
});

test("a folder's history needs the name of the store, and another one breaks it", async () => {
  const env = { ...store.settings, FOLLOW_JWKS: publisher.jwks };
  const run = (argv: string[]) => new FollowerProcess([store.folder, ...argv], env, "verify-history.ts");
  expect(await run([]).ended()).toBe(2);
  expect(await run(["--name", "trendvault/staging"]).ended()).toBe(1);
});

test("another key's history, an empty store and one that cannot be read each have their code", async () => {
  const stranger = await TestPublisher.create(store);
  const own = publisher;
  publisher = stranger;
  expect(await verify()).toMatchObject({ code: 1, said: expect.stringContaining("unknown-key") });
  publisher = own;
  expect((await verify(join(store.folder, "nowhere"))).code).toBe(1);
  store.fault = () => new Response("x", { status: 503 });
  expect((await verify(store.address)).code).toBe(4);
  expect((await verify("--kep")).code).toBe(2);
});

test(`one bit changed in any pointer is found (TEST_SEED=${random.seed})`, async () => {
  for (let draw = 0; draw < 5; draw++) {
    const name = `pointers/${101 + random.below(6)}.json`;
    const whole = store.read(name);
    const changed = Buffer.from(whole);
    const at = random.below(changed.length);
    changed[at] = (changed[at] ?? 0) ^ (1 << random.below(7));
    store.write(name, changed);
    expect({ name, at, code: (await verify()).code }).toEqual({ name, at, code: 1 });
    store.write(name, whole);
  }
});
