import { afterEach, beforeEach, expect, test } from "bun:test";
import { explanationUrl } from "@trendvault/contract/queries";
import { useRegions } from "@trendvault/contract/regions";
import { DatabaseBuilder } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin, testTime } from "@trendvault/kit/origin";

const ids = ["clip-0", "clip-1", "clip-2", "clip-3"];
const sponsor = { name: "A <brand>", paid_by: "Its agency" };
const advertisement = { placed_by: "sponsor", sponsor, model_rank: 3 };
const choice = { placed_by: "editor", model_rank: null };
const label = "Advertisement for A <brand>, paid by Its agency";
const start = Math.floor(testTime / 1000);

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeEach(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: ids.map((id) => ({ id })) }]);
  for (const [id, placed, end] of [
    ["clip-0", advertisement, start + 1000],
    ["clip-1", choice, start + 2000],
  ] as const)
    builder.database.run("UPDATE trending SET placed = ?, placed_until = ? WHERE video_id = ?", [
      JSON.stringify(placed),
      end,
      id,
    ]);
  origin = await openTestOrigin(builder.path);
});
afterEach(() => {
  origin.watcher.close();
  builder.remove();
});

async function read(target: string): Promise<string> {
  return (await origin.ask(target)).text();
}

type Placed = { id: string; placed_by?: string; sponsor?: object; model_rank?: number | null };

function placementOf({ placed_by, sponsor, model_rank }: Placed): object {
  return JSON.parse(JSON.stringify({ placed_by, sponsor, model_rank }));
}

test("who placed a video, who paid for it and its own rank are in everything that lists it", async () => {
  const expected = [advertisement, choice, {}, {}];
  for (const fields of ["", "&fields=snippet", "&fields=chart"]) {
    const { items } = JSON.parse(await read(`/api/trending?region=GB&limit=50${fields}`)) as {
      items: Placed[];
    };
    expect(items.map(placementOf)).toEqual(expected);
  }
  const [, ...lines] = (await read("/api/export/GB.ndjson?window=day")).trim().split("\n");
  expect(lines.map((line) => placementOf(JSON.parse(line)))).toEqual(expected);
  const video = JSON.parse(await read("/api/videos/clip-0")) as { trending: Placed[] };
  expect(video.trending.map(placementOf)).toEqual(video.trending.map(() => advertisement));
  const explained = JSON.parse(await read(explanationUrl("clip-0", { region: "GB", window: "day" })));
  expect(placementOf(explained.place)).toEqual(advertisement);
  expect(explained.sentences[0]).toContain(
    "an advertisement on behalf of A <brand>, paid by Its agency, beside the limit by channel; its score gives it rank 3",
  );
});

test.each([
  [
    { factor: 0.3, reason: "too many" },
    "clip-2",
    "a rule of the editors (too many) multiplies its score with 0.3",
  ],
  [{ factor: 0, reason: null }, "clip-3", ": a rule of the editors keeps it out."],
  [
    { factor: 0, reason: null, review_until: start, enters: true },
    "clip-3",
    ": editors have not allowed it.",
  ],
])("an explanation says what editors decided of the video: %j", async (rule, id, words) => {
  const { database } = builder;
  database.run("INSERT INTO catalogue (region, video_id, announced_at) VALUES ('GB', 'clip-3', 0)");
  database.run("DELETE FROM trending WHERE video_id = 'clip-3'");
  database.run("DELETE FROM explanations");
  database.run(
    "INSERT INTO explanations (generation, region, parts, limited, rules) SELECT max(id), 'GB', '{}', '{}', ? FROM generations",
    [JSON.stringify({ [id]: rule })],
  );
  const explained = JSON.parse(await read(explanationUrl(id, { region: "GB", window: "day" })));
  expect(explained.sentences[0]).toContain(words);
  const { factor, reason } = rule;
  expect(explained.rule).toEqual("enters" in rule ? undefined : { factor, reason });
  if (factor === 0) expect(explained.absence.reason).toBe("enters" in rule ? "review" : "rule");
  const other = JSON.parse(await read(explanationUrl("clip-1", { region: "GB", window: "day" })));
  expect(other.rule).toBeUndefined();
});

test("an explanation says what editors lifted of the video's lines, as long as that is in force", async () => {
  const lift = "INSERT INTO lifted VALUES ('clip-1', ?, ?)";
  for (const [field, until] of [
    ["mature", null],
    ["available_until", start + 60],
    ["countries", start],
  ] as const)
    builder.database.run(lift, [field, until]);
  const explained = JSON.parse(await read(explanationUrl("clip-1", { region: "GB", window: "day" })));
  expect(explained.lifted).toEqual(["available_until", "mature"]);
  expect(explained.sentences).toContain("Editors lifted what its sources say: available_until, mature.");
  const other = JSON.parse(await read(explanationUrl("clip-2", { region: "GB", window: "day" })));
  expect(other.lifted).toBeUndefined();
});

test("an explanation has the tags and the licence of a video that has some", async () => {
  const details = { tags: ["lighthouse"], licence: "CC-BY-4.0" };
  const keep = "INSERT INTO details (video_id, tags, licence) VALUES (?, ?, ?)";
  builder.database.run(keep, ["clip-1", JSON.stringify(details.tags), details.licence]);
  builder.database.run(keep, ["clip-2", null, "CC0-1.0"]);
  const has = [details, { licence: "CC0-1.0" }, {}];
  for (const [index, expected] of has.entries()) {
    const explained = await read(explanationUrl(`clip-${index + 1}`, { region: "GB", window: "day" }));
    const { tags, licence } = JSON.parse(explained);
    expect({ tags, licence }).toEqual(expected as typeof details);
  }
});

test("page and feeds label a placed video, in the page's language", async () => {
  const page = await read("/?region=GB");
  const shown = page.slice(0, page.indexOf('id="list-data"'));
  expect(shown).toContain(`>${label.replace("<", "&lt;").replace(">", "&gt;")}</p>`);
  expect(shown).toContain(">Chosen by the editors</p>");
  expect(await read("/?region=GB&lang=de")).toContain(">Von der Redaktion ausgewählt</p>");
  const feed = JSON.parse(await read("/feeds/GB.json")) as {
    items: { title: string; _trendvault: Placed }[];
  };
  expect(feed.items[0]?.title).toStartWith(`[${label}] `);
  expect(feed.items.map((item) => placementOf(item._trendvault))).toEqual([advertisement, choice, {}, {}]);
  const atom = await read("/feeds/GB.atom");
  expect(atom).toContain("[Advertisement for A &lt;brand&gt;, paid by Its agency] ");
  expect(atom).toContain("<trendvault:placed_by>editor</trendvault:placed_by>");
  expect(atom).toContain('<trendvault:sponsor paid_by="Its agency">A &lt;brand&gt;</trendvault:sponsor>');
  expect(atom).toContain("<trendvault:model_rank>3</trendvault:model_rank>");
});

test("what somebody has paid for is in nothing that is read without its label", async () => {
  const site = { name: "Kanal", public_url: "https://lists.example" };
  const named = await openTestOrigin(builder.path, { REGIONS_TABLE: JSON.stringify({ site }) });
  const html = await (await named.ask("/?region=GB")).text();
  useRegions(null);
  named.watcher.close();
  const head = html.slice(0, html.indexOf("</head>"));
  expect(head).toContain('name="description" content="2. Title of clip-1 · 3. Title of clip-2 · 4. ');
  expect(head).toContain('"position":2,"name":"Title of clip-1"');
  expect(head).not.toContain("clip-0");
});

test("a placed video is shown until its end, also when nobody publishes, and no answer outlives that", async () => {
  let before = start;
  const targets = ["/api/trending?region=GB", "/?region=GB", "/feeds/GB.atom", "/api/export/GB.ndjson"];
  for (const [now, shown, end] of [
    [start, ids, start + 1000],
    [start + 999, ids, start + 1000],
    [start + 1000, ids.slice(1), start + 2000],
    [start + 2000, ids.slice(2), Infinity],
  ] as const) {
    origin.pass((now - before) * 1000);
    before = now;
    await until(() => {
      origin.pass(0);
      return (origin.cache.snapshot?.generation.endsAt ?? 0) > now;
    });
    for (const target of targets) {
      const response = await origin.ask(target);
      const text = await response.text();
      expect([target, now, ids.filter((id) => text.includes(id))]).toEqual([target, now, [...shown]]);
      const seconds = (name: string) =>
        Number(
          new RegExp(`${name}=(\\d+)`).exec(response.headers.get("trendvault-cache-control") ?? "")?.[1] ?? 0,
        );
      const use = seconds("max-age") + Math.max(seconds("stale-while-revalidate"), seconds("stale-if-error"));
      expect([target, now, now + use <= end]).toEqual([target, now, true]);
    }
    const place = JSON.parse(await read(explanationUrl("clip-0", { region: "GB", window: "day" }))).place;
    expect(place === null).toBe(now >= start + 1000);
  }
});
