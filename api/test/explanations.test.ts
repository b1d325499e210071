import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { windowHours, windows } from "@trendvault/contract/lists";
import { explanationUrl } from "@trendvault/contract/queries";
import { type Explanation, schemas } from "@trendvault/contract/responses";
import { DatabaseBuilder } from "@trendvault/kit/database";
import { newFolder, writerProgram } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin } from "@trendvault/kit/origin";
import { Random, testSeed as seed } from "@trendvault/kit/random";

const random = new Random(seed);
const regions = ["DE", "GB"] as const;
const videoCount = 90;
const commandSeconds = 1200; // up to a hundred processes, on a busy machine

let folder: string;
let origin: TestOrigin;

function run(args: string[], stdin = ""): { code: number; text: string } {
  const env = {
    ...process.env,
    DB_PATH: join(folder, "trendvault.db"),
    SOURCES: "edge:https://lists.example",
  };
  const { exitCode, stdout } = Bun.spawnSync([writerProgram, ...args], {
    env,
    stdin: Buffer.from(stdin),
    stderr: "ignore",
  });
  return { code: exitCode, text: stdout.toString() };
}

// Few channels have the best, so that the limit by channel moves videos; impressions in one of the two regions.
beforeAll(async () => {
  folder = newFolder("explain");
  run(["migrate"]);
  run(["ingest", "-"], [3, 2, 1].flatMap((hours) => observations(hours)).join("\n"));
  run(["ingest", "-"], catalogueLine);
  const builder = new DatabaseBuilder(join(folder, "trendvault.db"));
  for (let video = 0; video < videoCount; video += 3) {
    builder.database.run("INSERT INTO impressions VALUES ('DE', ?, ?, 2, ?, ?, 2, ?, 0, 0)", [
      ...[`v${video}`, random.pick([1, 3, 25]), 1 + random.below(900)],
      ...[random.below(91), Math.floor(Date.now() / 1000) - 60],
    ]);
  }
  builder.takeDown("video", "v5");
  builder.database.close();
  run(["rank"]);
  origin = await openTestOrigin(join(folder, "trendvault.db"));
});

afterAll(() => {
  origin.watcher.close();
  rmSync(folder, { recursive: true });
});

const catalogueLine = JSON.stringify({
  ...{ id: "announced", regions: ["DE"], title: "Announced", channel: "One" },
  thumb_base: "https://thumbs.example/a",
});

function observations(hoursAgo: number): string[] {
  return regions.flatMap((region) =>
    Array.from({ length: videoCount }, (_, video) =>
      JSON.stringify({
        ...{
          id: `v${video}`,
          region,
          title: `Title ${video}`,
          channel: `Channel ${video > 60 ? video % 3 : video}`,
        },
        observed_at: new Date(Date.now() - hoursAgo * 3_600_000).toISOString().replace(/\.\d+/, ""),
        views: (4 - hoursAgo) * (1 + video * video * 7),
        ...(video % 4 === 0 ? {} : { published_at: "2025-11-19T10:00:00Z" }),
        thumb_base: `https://thumbs.example/${video}`,
      }),
    ),
  );
}

const commands = new Map<string, { code: number; text: string }>();

function explainByCommand(region: string, id: string) {
  const known = commands.get(region + id) ?? run(["explain", region, "--", id]);
  commands.set(region + id, known);
  return known;
}

/** The words that the command has for what the API has said. */
function wordsFor({ window, place, counts, channel_limit, visitors }: Explanation): (string | RegExp)[] {
  const { videos, within_ranks } = channel_limit;
  const words: (string | RegExp)[] = [`at most ${videos} videos of a channel in the first ${within_ranks}`];
  if (place === null) return [...words, new RegExp(`^ {2}${window} +not in the list`, "m")];
  words.push(new RegExp(`^ {2}${window} +rank ${place.rank} of ${place.total} `, "m"));
  const unlimited = place.rank_without_channel_limit;
  if (unlimited !== place.rank) {
    words.push(`without it, in ${window}: ${unlimited === null ? "beyond the end" : `rank ${unlimited}\n`}`);
  }
  const rate = counts?.views_per_hour.toLocaleString("en", {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  words.push(rate === undefined ? "nobody counts its views here" : `  rate      ${rate} views an hour`);
  if (visitors === null) return words;
  words.push(`open it: `, visitors.is_held ? "  held " : /\n {2}explored/);
  words.push(place.is_explored ? new RegExp(`earned, to learn about it: .*${window}`) : "explored");
  return words;
}

function scoreInText(text: string, window: string): number {
  const [, score = ""] = new RegExp(`^ {2}${window} .* score +([0-9,.]+)`, "m").exec(text) ?? [];
  return Number(score.replaceAll(",", ""));
}

test(
  `the API explains what the command explains (seed ${seed})`,
  async () => {
    const ids = [...Array.from({ length: videoCount }, (_, video) => `v${video}`), "announced", "unknown"];
    let limited = 0;
    for (let draw = 0; draw < 100 || limited === 0; draw++) {
      const [id, region, window] = [random.pick(ids), random.pick(regions), random.pick(windows)];
      const response = await origin.ask(explanationUrl(id, { region, window }));
      const { code, text } = explainByCommand(region, id);
      const name = `${id} ${region} ${window}`;
      expect(response.status, name).toBe(code === 0 && id !== "v5" ? 200 : 404);
      if (response.status !== 200) continue;
      const explanation = schemas.Explanation.parse(await response.json());
      for (const words of wordsFor(explanation)) expect(text, name).toMatch(words);
      const { place, visitors, forecast } = explanation;
      if (place === null) continue;
      expect(Math.abs(scoreInText(text, window) - place.score), name).toBeLessThan(0.56);
      expect(visitors === null, name).toBe(region === "GB");
      expect(forecast?.window_hours, name).toBe(windowHours[window]);
      limited += Number(place.rank !== place.rank_without_channel_limit);
      expect(explanation.sentences[0], name).toContain(
        `is at rank ${place.rank} of ${place.total} in the list of`,
      );
    }
  },
  commandSeconds * 1000,
);

test("what a visitor did is said in sums only, as they were stored", async () => {
  const { visitors } = schemas.Explanation.parse(
    await (await origin.ask("/api/videos/v0/explain?region=DE")).json(),
  );
  const { text } = explainByCommand("DE", "v0");
  // Both are rounded, and not to the same digits: what is between two of them may be written as either.
  const seen = numberAfter("  seen      ", text.replaceAll(",", ""));
  expect(Math.abs(seen - (visitors?.impressions ?? Number.NaN))).toBeLessThan(0.11);
  const appeal = numberAfter("open it: ", text);
  expect(Math.abs(appeal - 100 * (visitors?.prior_click_through_rate ?? Number.NaN))).toBeLessThan(0.0056);
});

function numberAfter(words: string, text: string): number {
  return Number.parseFloat(text.split(words)[1] ?? "");
}

test("a video that is known but not listed is said to be so; what is unknown or removed is 404", async () => {
  const database = new DatabaseBuilder(join(folder, "trendvault.db")).database;
  database.run("DELETE FROM trending WHERE region = 'GB' AND video_id = 'v1'");
  database.close();
  const fresh = await openTestOrigin(join(folder, "trendvault.db"));
  const explanation = schemas.Explanation.parse(
    await (await fresh.ask("/api/videos/v1/explain?region=gb")).json(),
  );
  expect(explanation).toMatchObject({ place: null, forecast: null, counts: { views: 24 } });
  const { reason, score, last_rank } = explanation.absence ?? {};
  expect([reason, last_rank]).toEqual(["new", videoCount - 1]); // it was taken from its place; v5 is in no list
  const { text } = run(["explain", "GB", "v1"]);
  expect(text).toMatch(/^ {2}day +not in the list .*the list is older than what is known of it now/m);
  expect(Math.abs(scoreInText(text, "day") - (score ?? Number.NaN))).toBeLessThan(0.56);
  const elsewhere = await fresh.ask("/api/videos/v1/explain?region=FR");
  expect([elsewhere.status, ((await elsewhere.json()) as { detail: string }).detail]).toEqual([
    404,
    "This video is known, but nothing has counted or announced it in this region.",
  ]);
  expect((await fresh.ask("/api/videos/v5/explain?region=GB")).status).toBe(404);
  fresh.watcher.close();
});

test(
  "one that visitors saw and that is not listed has the score and the impressions that the command says",
  async () => {
    const own = newFolder("unlisted");
    const path = join(own, "trendvault.db");
    const env = { ...process.env, DB_PATH: path };
    const write = (args: string[], lines: object[] = []) =>
      Bun.spawnSync([writerProgram, ...args], {
        env,
        stdin: Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n")),
        stderr: "ignore",
      }).stdout.toString();
    const announced = Array.from({ length: 540 }, (_, video) => ({
      ...{ id: `v${video}`, regions: ["DE"], title: `Video ${video}`, channel: `Channel ${video}` },
      ...{
        thumb_base: "https://thumbs.example/v",
        published_at: new Date(Date.now() - 7_200_000).toISOString(),
      },
    }));
    write(["migrate"]);
    write(["ingest", "-"], announced);
    const builder = new DatabaseBuilder(path);
    const now = Math.floor(Date.now() / 1000);
    for (let video = 0; video < 540; video++)
      builder.database.run("INSERT INTO impressions VALUES ('DE', ?, 1, 2, ?, ?, 2, ?, 0, 0)", [
        ...[`v${video}`, video < 30 ? 200 : 20 + random.below(150), random.below(video < 30 ? 2 : 20), now],
      ]);
    builder.database.run("INSERT INTO rank_traffic VALUES ('DE', 1, 500000, ?1 - 3600, ?1)", [now]); // scores far apart
    builder.database.close();
    write(["rank"]);
    const again = new DatabaseBuilder(path);
    again.database.run("UPDATE catalogue SET announced_at = announced_at + 60"); // by the next reading of the catalogue
    again.database.close();
    const fresh = await openTestOrigin(path);
    let unlisted = 0;
    for (let video = 0; video < 15; video++) {
      const body = await (await fresh.ask(`/api/videos/v${video}/explain?region=DE&window=week`)).json();
      const { absence, visitors, sentences } = schemas.Explanation.parse(body);
      if (absence === null) continue;
      unlisted++;
      const text = write(["explain", "DE", `v${video}`]);
      expect(Math.abs(scoreInText(text, "week") - (absence.score ?? Number.NaN)), text).toBeLessThan(0.56);
      expect(absence.score ?? Number.NaN).toBeLessThanOrEqual(absence.last_score ?? Number.NaN);
      expect(absence.impressions).toBe(visitors?.impressions ?? Number.NaN);
      expect(sentences[0]).toContain(`is below that of the last rank, ${absence.last_rank}: `);
    }
    expect(unlisted).toBeGreaterThan(0);
    fresh.watcher.close();
    rmSync(own, { recursive: true });
  },
  commandSeconds * 1000,
);

test.each(["limit=5", "region=XX", "region=DE&region=DE", "window=hour", "category=Music"])(
  "an explanation with the query %p is refused",
  async (query) => expect((await origin.ask(`/api/videos/v1/explain?${query}`)).status).toBe(400),
);

test("how the lists are made is said without keys and paths", async () => {
  const about = schemas.About.parse(await (await origin.ask("/api/about")).json());
  expect(about).toMatchObject({
    formula: "inverse-square-1+clicks-7",
    sources: [{ kind: "edge", host: "lists.example" }],
    explore_share: 0.25,
    removed_videos: 1,
    impressions_counted: true,
  });
});

test("the hours of a window are the writer's", async () => {
  const source = await Bun.file(join(writerProgram, "../../src/Ranking/Forecast.php")).text();
  for (const window of windows) {
    const name = window.charAt(0).toUpperCase() + window.slice(1);
    expect(source).toContain(`self::${name} => ${windowHours[window]}.0`);
  }
});
