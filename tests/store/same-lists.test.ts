import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { windows } from "@trendvault/contract/lists";
import { regionCodes } from "@trendvault/contract/regions";
import { newFolder, writerProgram } from "@trendvault/kit/machine";
import { openTestOrigin, type TestOrigin } from "@trendvault/kit/origin";
import { Random } from "@trendvault/kit/random";

// What docs/operations/scale.md promises: whether one writer ranks all regions or several share them, the lists are the same.

setDefaultTimeout(1_200_000); // real processes on a busy machine
const hour = 3_600_000;
const hours = 12;
const now = Math.floor(Date.now() / hour) * hour - hour; // the writer takes no counts of the future
const categories = ["Music", "Film", "Kids' TV"];
const shares = [0, 1, 2].map((share) => regionCodes.filter((_, index) => index % 3 === share));

const folder = newFolder("same-lists");
let whole: TestOrigin;
let origins: Map<string, TestOrigin>;

beforeAll(async () => {
  const lines = countsOf(new Random(18));
  whole = await publish("whole", lines);
  origins = new Map();
  for (const [index, codes] of shares.entries()) {
    const origin = await publish(`share-${index}`, lines, { REGIONS: codes.join() });
    for (const code of codes) origins.set(code, origin);
  }
});

afterAll(() => {
  for (const { watcher } of new Set([whole, ...origins.values()])) watcher.close();
  rmSync(folder, { recursive: true });
});

type Line = {
  id: string;
  region: string;
  observed_at: string;
  views: number;
  [described: string]: string | number;
};

/** Hourly counts of all regions: videos of one region and of several, and channels that have many of them. */
function countsOf(random: Random): Line[] {
  return regionCodes.flatMap((region) =>
    Array.from({ length: 40 }, (_, n) => {
      const id = n % 4 === 0 ? `everywhere-${n}` : `${region}-${n}`;
      const described = {
        title: `Title of ${id}`,
        channel: `Channel ${n % 7}`,
        category: categories[n % 3] ?? "",
      };
      const counted = { ...described, id, region, thumb_base: `https://thumbs.example/${id}` };
      let views = random.below(10_000);
      return Array.from({ length: hours }, (_, ago) => hours - 1 - ago).map((ago) => {
        views += random.below(4000);
        return { ...counted, observed_at: timeOf(now - ago * hour), views };
      });
    }).flat(),
  );
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+/, "");
}

/** Ranks what was counted until an hour before, then the rest, as a writer of all regions or of some. */
function publish(name: string, lines: readonly Line[], settings: Record<string, string> = {}) {
  const path = join(folder, `${name}.db`);
  const run = (words: string[], lines: readonly Line[] = []) => {
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const env = { PATH: process.env.PATH, DB_PATH: path, ...settings };
    execFileSync(writerProgram, words, { env, input, stdio: ["pipe", "ignore", "pipe"] });
  };
  run(["migrate"]);
  const earlier = timeOf(now - hour);
  run(
    ["ingest", "-"],
    lines.filter(({ observed_at }) => observed_at <= earlier),
  );
  run(["rank", "--at", earlier]);
  run(
    ["ingest", "-"],
    lines.filter(({ observed_at }) => observed_at > earlier),
  );
  run(["rank", "--at", timeOf(now)]);
  return openTestOrigin(path);
}

/** An answer without what tells generations apart: their number, in cursors and addresses, too, and what is signed with it. */
async function read(origin: TestOrigin | undefined, target: string): Promise<string> {
  const response = await origin?.ask(target);
  expect(response?.status).toBe(200);
  const text = (await response?.text()) ?? "";
  return text
    .replace(/"generation":\d+/g, '"generation":0')
    .replace(/"token":"[^"]+"/g, '"token":""')
    .replace(/cursor=\d+-/g, "cursor=0-");
}

test("the lists of every region are the same, whether one writer ranks all or three share them", async () => {
  for (const region of regionCodes) {
    const lists = windows.flatMap((window) =>
      [null, ...categories].map((category) => {
        const query = new URLSearchParams({ region, window, ...(category === null ? {} : { category }) });
        return `/api/trending?${query}&limit=50`;
      }),
    );
    const others = [`/api/export/${region}.ndjson`, `/feeds/${region}.json`, `/?region=${region}`];
    const explained = ["everywhere-4", `${region}-1`].map(
      (id) => `/api/videos/${id}/explain?region=${region}`,
    );
    for (const target of [...lists, ...others, ...explained]) {
      const expected = await read(whole, target);
      expect(await read(origins.get(region), target), target).toBe(expected);
    }
  }
});

test("they hold what was counted: ranks that have moved, of videos of one region and of several", async () => {
  const { items } = JSON.parse(await read(whole, "/api/trending?region=DE&limit=50"));
  const ids: string[] = items.map(({ id }: { id: string }) => id);
  expect(ids.length).toBeGreaterThan(15);
  expect(ids.some((id) => id.startsWith("everywhere-")) && ids.some((id) => id.startsWith("DE-"))).toBe(true);
  type Item = { rank: number; previous_rank: number | null };
  expect(
    items.some(({ rank, previous_rank }: Item) => previous_rank !== null && previous_rank !== rank),
  ).toBe(true);
});
