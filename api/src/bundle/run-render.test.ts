import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { openBundle } from "@trendvault/kit/origin";
import { testEnvironment } from "@trendvault/kit/origin-process";
import { Random } from "@trendvault/kit/random";
import { encodeBlock, readBlocks, runRender } from "./run-render.ts";

const builder = new DatabaseBuilder();
builder.publish([{ region: "GB", videos: videos(3) }]);
const output = join(builder.folder, "a.bundle");

afterAll(() => builder.remove());

async function run(args: string[], env: Record<string, string> = testEnvironment) {
  const lines: string[] = [];
  const progress: string[] = [];
  const bytes = () => expect.unreachable();
  const code = await runRender(args, {
    program: { words: [], env },
    output: { line: (text) => lines.push(text), progress: (text) => progress.push(text), bytes },
  });
  return { code, lines, said: progress.join("\n") };
}

test("the one line is what the pointer has to say", async () => {
  const { code, lines } = await run(["--database", builder.path, "--output", output]);
  expect([code, lines.length]).toEqual([0, 1]);
  const { seconds, ...file } = JSON.parse(lines[0] ?? "");
  expect(seconds).toBeGreaterThan(0);
  expect(file.bytes).toBe(Bun.file(output).size);
  expect(new Bun.CryptoHasher("sha256").update(await Bun.file(output).bytes()).digest("base64url")).toBe(
    file.sha256,
  );
  const { manifest } = await openBundle(output, file);
  expect(manifest).toMatchObject({ generation: file.generation, documents: file.documents });
});

test("--keys prints the public keys without a database, and says what is wrong with a setting", async () => {
  const { code, lines } = await run(["--keys"]);
  expect([code, lines.length]).toEqual([0, 1]);
  const purposes = JSON.parse(lines[0] ?? "").keys.map(({ purpose }: { purpose: string }) => purpose);
  expect(purposes).toEqual(["responses", "tokens"]);
  const { SIGNING_KEYS: _, ...env } = testEnvironment;
  expect(await run(["--keys"], env)).toMatchObject({ code: 2, said: expect.stringMatching(/^SIGNING_KEYS/) });
});

test("--check-regions says what is wrong with a file of regions, and with words of its languages", async () => {
  const file = join(builder.folder, "regions.json");
  const words = join(builder.folder, "he.json");
  const check = async (table: object, text: string | Uint8Array) => {
    await Promise.all([Bun.write(file, JSON.stringify(table)), Bun.write(words, text)]);
    return run(["--check-regions", file], {});
  };
  const languages = { he: "he.json" };
  expect(await check({ languages }, '{"dir": "rtl", "more": "עוד"}')).toMatchObject({ code: 0, said: "" });
  expect(await check({ languages }, '{"more": "<b>", "mor": ""}')).toMatchObject({
    code: 2,
    said: [
      `languages.he (${words}): dir: expected ltr or rtl`,
      `languages.he (${words}): more: expected a text of 1 to 500 characters, without markup and what turns text around`,
      `languages.he (${words}): mor: unknown, expected the name of a word of en.json`,
    ].join("\n"),
  });
  expect(
    await check({ languages }, Buffer.from('{"dir": "rtl", "more": "\xf2\xe5\xe3"}', "latin1")),
  ).toMatchObject({
    code: 2,
    said: `languages.he (${words}): ${words} is not UTF-8`,
  });
  const missing = join(builder.folder, "no.json");
  expect(await check({ languages: { he: "no.json" } }, "{}")).toMatchObject({
    code: 2,
    said: `languages.he (${missing}): cannot read ${missing} (ENOENT)`,
  });
  expect(await check({ languages: { he: { dir: "rtl" } } }, "{}")).toMatchObject({
    code: 2,
    said: expect.stringContaining("languages.he: expected a tag of two or three small letters, and the path"),
  });
  expect(await check({ languages, planets: 1 }, '{"dir": "rtl"}')).toMatchObject({
    code: 2,
    said: expect.stringContaining("planets: unknown"),
  });
});

test("an argument or a key that is missing is said, with what is expected, and gives 2", async () => {
  expect(await run([])).toMatchObject({ code: 2, said: "--database: missing, expected a file" });
  expect(await run(["--database", builder.path])).toMatchObject({
    code: 2,
    said: expect.stringMatching(/--output/),
  });
  const { SIGNING_KEYS: _, ...env } = testEnvironment;
  const keyless = await run(["--database", builder.path, "--output", output], env);
  expect(keyless).toMatchObject({
    code: 2,
    said: expect.stringMatching(/^SIGNING_KEYS: missing.*Example: SIGNING_KEYS=/),
  });
  const wrong = { ...testEnvironment, EDGE_SIGNING_PUBLIC_KEYS: "short" };
  const keyed = await run(["--database", builder.path, "--output", output], wrong);
  expect(keyed).toMatchObject({
    code: 2,
    said: expect.stringMatching(/^EDGE_SIGNING_PUBLIC_KEYS: expected public keys/),
  });
});

test("a database that is not there, and one without a generation, give 5", async () => {
  const missing = join(builder.folder, "missing.db");
  expect(await run(["--database", missing, "--output", output])).toMatchObject({
    code: 5,
    said: expect.stringMatching(/missing.db/),
  });
  const empty = new DatabaseBuilder();
  const nothing = await run(["--database", empty.path, "--output", output]);
  expect(nothing).toMatchObject({ code: 5, said: expect.stringMatching(/nothing was published yet/) });
  empty.remove();
});

test("a file that cannot be written gives 1", async () => {
  const nowhere = join(builder.folder, "no/such/folder");
  expect(await run(["--database", builder.path, "--output", nowhere])).toMatchObject({
    code: 1,
    said: expect.stringMatching(/ENOENT/),
  });
});

const random = new Random();

function drawBlock(): Parameters<typeof encodeBlock>[0] {
  const targets = Array.from({ length: random.below(5) }, () => `/?category=${random.below(1e9)}Ł`);
  return { targets, bytes: Uint8Array.from({ length: random.below(2000) }, () => random.below(256)) };
}

/** The bytes in pieces of random lengths, as a pipe gives them. */
function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const end = at + 1 + random.below(random.pick([3, 100, 5000]));
      controller.enqueue(bytes.slice(at, end));
      at = end;
    },
  });
}

test(`blocks are read as they were written, whatever the pieces (seed ${random.seed})`, async () => {
  const blocks = Array.from({ length: 50 }, drawBlock);
  const stream = inPieces(Buffer.concat(blocks.map(encodeBlock)));
  expect(await Array.fromAsync(readBlocks(stream))).toEqual(blocks);
});

test(`a stream that ends in a block is an error (seed ${random.seed})`, async () => {
  for (let draw = 0; draw < 50; draw++) {
    const bytes = encodeBlock(drawBlock());
    const cut = bytes.slice(0, 1 + random.below(bytes.length - 1));
    await expect(Array.fromAsync(readBlocks(inPieces(cut)))).rejects.toThrow("in the middle of a block");
  }
});
