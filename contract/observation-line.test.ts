import { expect, test } from "bun:test";
import { join } from "node:path";
import { drawsOf, Random } from "@trendvault/kit/random";
import { Ajv2020 } from "ajv/dist/2020";
import schema from "../docs/observation-line.schema.json";
import { regionCodes } from "./regions.ts";

// A line that the schema allows and the writer refuses would be found out in production, and the other way round never.

const root = join(import.meta.dir, "..");
const isAllowed = new Ajv2020({ allowUnionTypes: true, strictRequired: false }).compile(schema);

test("the schema has the regions of db/regions.json", () => {
  expect(schema.$defs.region.enum).toEqual([...regionCodes]);
});

const documentation = await Bun.file(join(root, "docs/observations.md")).text();
const shownLines = [...documentation.matchAll(/^```json\n(.+)\n```$/gm)].map(
  ([, line = ""]) => JSON.parse(line) as Line,
);
const { observation, catalogue, description, end, removal } = schema.$defs;

test("the schema allows the lines that the documentation shows", () => {
  const examples: object[] = [
    ...observation.examples,
    ...catalogue.examples,
    ...end.examples,
    ...removal.examples,
  ];
  for (const line of [...shownLines, ...examples]) expect([line, isAllowed(line)]).toEqual([line, true]);
});

/** The documentation's, with the fields that few sources give. */
const restrictions = {
  mature: false,
  made_for_kids: true,
  available_from: null,
  available_until: null,
  countries: { allowed: ["DE"] },
  live: "now",
  live_until: null,
};
const wholeLines: Line[] = [
  ...shownLines.map((line) => (line.views === undefined ? line : { ...line, likes: 2, comments: 3 })),
  ...shownLines.slice(0, 2).map((line) => ({ ...line, ...restrictions })),
  ...shownLines.slice(0, 2).map((line) => ({ ...line, unset: ["url", "category"] })),
  { id: "a", removed: true, reason: "a reason" },
  { channel: "A channel", removed: true },
  { id: "a", removed: false },
];

test("the documentation shows a line with every field", () => {
  const shown = new Set(wholeLines.flatMap((line) => Object.keys(line)));
  const properties = [observation, catalogue, description, end, removal].flatMap(({ properties = {} }) =>
    Object.keys(properties),
  );
  expect(properties.filter((name) => !shown.has(name))).toEqual([]);
});

const random = new Random();
const seconds = 1200; // only a fault takes so long, on a busy machine

test(
  `schema and writer allow the same lines, seed ${random.seed}`,
  async () => {
    const lines = Array.from({ length: drawsOf({ usual: 20_000, long: 300_000 }) }, drawLine);
    const judgements = await judge(lines);
    const counts = new Map<string, number>();
    for (const [index, line] of lines.entries()) {
      const judgement = judgements[index] ?? "missing";
      const verdict = judgement.split(":")[0] ?? "";
      counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      expect([line, judgement, isAllowed(JSON.parse(line))]).toEqual([
        line,
        judgement,
        verdict !== "rejected" && verdict !== "held",
      ]);
    }
    expect([...counts.keys()].sort()).toEqual([
      "catalogue",
      "complete",
      "held",
      "observation",
      "rejected",
      "removal",
    ]);
  },
  seconds * 1000,
);

async function judge(lines: string[]): Promise<string[]> {
  const input = new Blob(lines.map((line) => `${line}\n`));
  const program = join(root, "writer/tests/Support/judge.php");
  const php = Bun.spawn(["php", program, "lines"], { stdin: input, stdout: "pipe", stderr: "inherit" });
  return (await php.stdout.text()).split("\n").slice(0, -1);
}

type Line = Record<string, unknown>;

const fields = [...new Set([...wholeLines.flatMap((line) => Object.keys(line)), "unknown"])];

/** A line that is allowed, with up to three fields that are left out or have a value that is drawn. */
function drawLine(): string {
  const line: Line = { ...random.pick(wholeLines) };
  for (let changes = random.below(4); changes > 0; changes--) {
    const field = random.below(3) === 0 ? random.pick(fields) : random.pick(Object.keys(line));
    if (random.below(5) === 0) delete line[field];
    else line[field] = drawValue(field);
  }
  return JSON.stringify(line);
}

/** A value of the kind that a field has, or of another. */
function drawValue(field: string): unknown {
  const draw = random.below(3) === 0 ? undefined : drawOfField[field];
  return (draw ?? random.pick([drawText, drawName, drawTime, drawAddress, drawPlain, drawList]))();
}

const drawOfField: Record<string, () => unknown> = {
  id: drawName,
  language: drawName,
  region: drawPlain,
  views: drawPlain,
  likes: drawPlain,
  observed_at: drawTime,
  published_at: drawTime,
  available_from: drawTime,
  available_until: drawTime,
  mature: () => random.pick([true, false]),
  made_for_kids: () => random.pick([true, false]),
  live: () => random.pick([false, true, "scheduled", "now", "recorded", "soon"]),
  live_until: drawTime,
  tags: () =>
    random.pick([[], {}, [drawText()], [drawText(), drawText(), 1], Array(random.pick([30, 31])).fill("a")]),
  licence: drawText,
  titles: () => ({ [String(drawName())]: random.pick([drawText(), drawText(), null, 1]) }),
  pictures: () => {
    const pixels = () => random.pick([1, 320, 10_000, 0, 10_001, 1.5, "320", null]);
    const draw = () => ({ url: random.pick([drawAddress(), "https://a/b"]), width: pixels(), height: 180 });
    return random.pick([[], {}, [draw()], [draw(), draw()], Array(random.pick([8, 9])).fill(draw())]);
  },
  countries: () => ({ [random.pick(["allowed", "excluded", "denied"])]: drawList() }),
  thumb_base: drawAddress,
  url: drawAddress,
  regions: drawList,
  unset: () => random.pick([[], ["url"], ["live_until", "pictures"], ["title"], ["url", 1], { a: "url" }]),
  removed: () => random.pick([true, false]),
  complete: () => random.pick([true, false]),
  title: drawText,
  channel: drawText,
  category: drawText,
};

function drawPlain(): unknown {
  const counts = [0, 1, -1, 1.5, 1e21, 9007199254740991, 9007199254740992, random.below(1e9)];
  return random.pick([
    ...counts,
    null,
    null,
    "",
    "",
    true,
    false,
    {},
    { id: "a" },
    "DE",
    "gb",
    "GBR",
    "en",
    "e",
  ]);
}

function drawList(): unknown[] {
  return Array.from({ length: random.below(4) }, () =>
    random.pick([...regionCodes, "DE", "DE", "XX", "de", null, 1]),
  );
}

// Of characters that are allowed, that are not, that are drawn as nothing, and of more than one unit of UTF-16.
const characters = [
  ..."aZ09 -_.~:/?#@%'\"<>\\^`{|}[]&=+,;!\u007e",
  ..."\u0000\t\n\u001f\u007f\u0080\u0085\u009f\u00a0\u00ad\u00e9\u0301\u115f\u1160\u200b\u200f\u2027\u2028\u202e\u202f",
  ..."\u2065\u2066\u2069\u206a\u2800\u3000\u3164\ufeff\uffa0\u05e9\u4e2d\u{1f3ac}\u{e0067}\u{10ffff}",
];

function drawText(): string {
  if (random.below(3) === 0) return `a${random.pick(characters)}b`;
  const length = random.pick([
    1, 1, 2, 3, 5, 59, 60, 61, 100, 101, 199, 200, 201, 299, 300, 301, 499, 500, 501,
  ]);
  const alphabet = random.pick([characters, ["a"], ["\u{1f3ac}"], [" ", "\u00a0", "\u200b"]]);
  return Array.from({ length }, () => random.pick(alphabet)).join("");
}

/** An id, or a tag of a language. */
function drawName(): string {
  const alphabet = random.pick([
    ["a", "b"],
    ["a", "-"],
    [..."abXZ09_-"],
    [..."ab01_-.~:"],
    [..."aé"],
    [..."a/"],
  ]);
  const length = random.pick([1, 2, 8, 9, 11, 63, 64, 65]);
  const tag = `pt${"-abcdefgh".repeat(3)}-abcdefgh`.slice(0, random.pick([34, 35, 36]));
  return random.below(3) === 0 ? tag : Array.from({ length }, () => random.pick(alphabet)).join("");
}

/** A time, one part of which is unusual or wrong. */
function drawTime(): string {
  const parts = ["2026", "-11", "-20", "T", "10", ":00", ":00", "Z"];
  const unusual = [
    ["1968", "1971", "2100", "9999", "0000", "123"],
    ["-00", "-01", "-12", "-13", "-1", "11"],
    ["-00", "-01", "-30", "-31", "-32", "-3"],
    ["t", " ", "_", ""],
    ["00", "23", "24", "1"],
    [":59", ":60", ""],
    [":59", ":60", ":61", ":59.25", ":60.9", ":00.", ""],
    ["z", "", "+01:00", "-23:59", "+24:00", "+00:60", "+0100", "Z "],
  ];
  if (random.below(3) === 0) return drawDay() + parts.slice(3).join("");
  const index = random.below(parts.length);
  parts[index] = random.pick(unusual[index] ?? []);
  return parts.join("");
}

/** A day at the end of a month, which exists or does not. */
function drawDay(): string {
  const year = 1970 + random.below(random.pick([60, 8030]));
  const month = random.pick([2, 2, 1 + random.below(12)]);
  return `${year}-${String(month).padStart(2, "0")}-${28 + random.below(4)}`;
}

function drawAddress(): string {
  const scheme = random.pick(["https://", "https://", "https://", "http://", "HTTPS://", "//", "ftp://"]);
  const host = random.pick([
    "a",
    "a",
    "videos.example",
    "[::1]:80",
    "user@host",
    "ü.example",
    "",
    "a b",
    `a:${random.below(70_000)}`,
    "a:",
  ]);
  const characterIn = `/a${random.pick(characters)}`;
  const rest = random.pick([
    "",
    "/",
    "/a/b",
    "/%20",
    "/a?b=c",
    "?b",
    "#c",
    "/a@b:c",
    characterIn,
    characterIn,
  ]);
  const address = scheme + host + rest;
  const length = random.pick([0, 0, 0, 499, 500, 501, 1999, 2000, 2001]);
  return length === 0 ? address : `${address}/`.padEnd(length, "a");
}
