import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { checkWholeList, startLoad } from "@trendvault/kit/load";
import { root, until } from "@trendvault/kit/machine";
import { OriginProcess } from "@trendvault/kit/origin-process";

let builder: DatabaseBuilder;
let origin: OriginProcess;

beforeEach(async () => {
  builder = new DatabaseBuilder();
  builder.publish(["GB", "DE", "FR"].map((region) => ({ region, videos: videos(60) })));
  origin = await OriginProcess.start(builder.path);
});

afterEach(async () => {
  await origin.remove();
  builder.remove();
});

function startWriter(pause: number): Bun.Subprocess {
  const program = join(root, "tests/kit/publishing-writer.ts");
  return Bun.spawn([process.execPath, program, builder.path, String(pause)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
}

test("no list is torn while the writer publishes, checkpoints and is killed again and again", async () => {
  const targets = ["GB", "DE", "FR"].flatMap((region) =>
    [7, 24, 50].map((limit) => `/api/trending?region=${region}&limit=${limit}`),
  );
  const generations = new Set<number>();
  const load = startLoad(origin.url, {
    connections: 64,
    targets,
    check(response) {
      generations.add(JSON.parse(response.body).generation);
      return checkWholeList(response);
    },
  });
  for (let round = 0; round < 4; round++) {
    const seen = generations.size;
    const writer = startWriter(20);
    await until(() => generations.size > seen + 4);
    writer.kill("SIGKILL");
    await writer.exited;
  }
  expect((await load.stop()).failures).toEqual([]);
});

test("what a writer left uncommitted when it was killed is never seen", async () => {
  const before = (await (await fetch(`${origin.url}api/trending`)).json()) as { generation: number };
  const sql =
    "INSERT INTO generations (id, published_at, formula, video_count, max_per_channel, max_per_channel_ranks) VALUES (77, 0, 'x', 0, 3, 24)";
  const program = `
    const { Database } = require("bun:sqlite");
    const database = new Database(${JSON.stringify(builder.path)});
    database.run("BEGIN IMMEDIATE");
    database.run("PRAGMA cache_spill = 1");
    database.run(${JSON.stringify(sql)});
    console.log("open");
    setInterval(() => {}, 1000);`;
  const writer = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  const { value } = await writer.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("open\n");
  writer.kill("SIGKILL");
  await writer.exited;
  const next = builder.publish([{ region: "GB", videos: videos(3) }]);
  await until(async () => {
    const page = (await (await fetch(`${origin.url}api/trending`)).json()) as { generation: number };
    expect([before.generation, next]).toContain(page.generation);
    return page.generation === next;
  });
});
