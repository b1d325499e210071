import { expect, test } from "bun:test";
import { join } from "node:path";
import { drawsOf, Random } from "@trendvault/kit/random";
import { Ajv2020 } from "ajv/dist/2020";
import schema from "../docs/editorial.schema.json";

const allows = new Ajv2020({ strictTypes: false }).compile(schema); // types are where a $ref leads

const pin = {
  video: "GJ5N-98zdlw",
  region: "DE",
  window: "now",
  rank: 1,
  until: "2026-12-24T18:00:00Z",
  reason: "Election night",
};
const sponsor = { name: "A brand", paid_by: "Its agency" };
const file = {
  removals: [
    { video: "a", reason: "court order", by: "Ana" },
    { channel: "A channel", reason: "spam" },
  ],
  pins: [
    { ...pin, category: null, by: "Ana", placed_by: "editor" },
    { ...pin, category: "Music", placed_by: "sponsor", sponsor },
    { ...pin, region: "GB", window: "week", rank: 50 },
  ],
  rules: [
    { word: "giveaway", factor: 0.5, until: pin.until, reason: "too many", by: "Ana", public: true },
    { channel: "A channel", region: "DE", factor: 0, until: pin.until, reason: "spam", public: false },
    { tag: "Give-away", factor: 0, until: pin.until, reason: "spam", region: "DE" },
    { source: "peertube:tube.example", factor: 0, until: pin.until, reason: "spam" },
  ],
  reviews: [
    { region: "DE", category: "News", since: pin.until, hours: 24, after: "enter", reason: "law", by: "Ana" },
    { region: "GB", category: null, since: pin.until, hours: 720, after: "stay-out", reason: "law" },
  ],
  allowed: [{ video: "a" }, { channel: "A channel", reason: "known", by: "Ana" }],
  lifted: [
    { video: "a", field: "mature", reason: "seen", by: "Ana" },
    { video: "a", field: "countries", until: pin.until, reason: "seen" },
  ],
};
const lists = Object.keys(file);

const values = [
  ...[
    "",
    "a",
    "DE",
    "de",
    "now",
    "month",
    "sponsor",
    "editor",
    "#language:de",
    "x".repeat(101),
    "x".repeat(301),
  ],
  ...[
    "2026-12-24T18:00:00Z",
    "2026-12-24 18:00",
    "2026-12-24T18:00:00+01:00",
    0,
    0.5,
    1,
    50,
    51,
    721,
    1.5,
    "1",
  ],
  ...["enter", "stay-out", "!?", "無料", "available_from", "live"],
  ...[
    null,
    true,
    [],
    {},
    sponsor,
    "\u202ea",
    { ...sponsor, name: "a\n" },
    { name: "A brand" },
    { ...sponsor, more: 1 },
  ],
];

function drawFile(random: Random): string {
  const drawn = structuredClone(file) as Record<string, unknown[]>;
  for (let changes = random.below(4); changes > 0; changes--) {
    const list = drawn[random.pick(lists)];
    const at = random.below(20) === 0 ? drawn : list?.[random.below(list.length)];
    const members = Object(at) as Record<string, unknown>;
    const name = random.pick([
      ...Object.keys(members),
      ...["sponsor", "placed_by", "category", "by", "channel", "word", "tag", "after", "field", "x", "1"],
    ]);
    if (random.below(5) === 0) delete members[name];
    else members[name] = structuredClone(random.pick(values));
    if (!lists.every((list) => Array.isArray(drawn[list]))) break;
  }
  return JSON.stringify(drawn);
}

async function judge(files: string[]): Promise<string[][]> {
  const program = join(import.meta.dir, "../writer/tests/Support/judge.php");
  const stdin = new Blob(files.map((text) => `${text}\n`));
  const php = Bun.spawn(["php", program, "editorial"], { stdin, stdout: "pipe", stderr: "inherit" });
  return (await php.stdout.text())
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const random = new Random();
test(`an editorial file is judged alike by schema and writer, seed ${random.seed}`, async () => {
  const files = Array.from({ length: drawsOf({ usual: 2000, long: 50_000 }) }, () => drawFile(random));
  const judgements = await judge(files);
  const accepted = files.filter((text, index) => {
    const faults = judgements[index]?.filter((fault) => !fault.endsWith("says the same already"));
    expect([text, faults, allows(JSON.parse(text))]).toEqual([text, faults, faults?.length === 0]);
    return faults?.length === 0;
  });
  expect(accepted.length).toBeGreaterThan(files.length / 20);
  expect(accepted.length).toBeLessThan(files.length / 1.5);
}, 1_200_000);

test.each<[string, ...string[]]>([
  ["{", "expected JSON"],
  ["[]", "expected JSON: an object"],
  ['{"pins": [], "pi\\u006es": []}', '"pins": twice in one object, expected each member once'],
  [
    '{"pins": [{"video": "a", "video": "a:"}]}',
    '"video": twice in one object, expected each member once',
    "pins[0].region: expected the code of a region, like GB",
    "pins[0].window: expected now, day or week",
  ],
  [
    '{"removals": [{"video": "a", "reason": "b"}, {"video": "a", "reason": "c"}]}',
    "removals[1]: removals[0] says the same already",
  ],
])("the mistakes of %p are told with their places", async (...[text, ...expected]) => {
  const [faults] = await judge([text]);
  expect(faults?.join("\n")).toContain(expected.join("\n"));
});
