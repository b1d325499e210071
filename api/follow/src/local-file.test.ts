import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { mountRefusal, newFolder, runWithMount } from "@trendvault/kit/machine";
import { findExpired, LocalFile } from "./local-file.ts";
import { Memory } from "./memory.ts";

const both = ["GB", "DE"];
const minutely = (ids: number[], regions = both) => ids.map((id) => ({ id, publishedAt: id * 60, regions }));

test.each([
  ["nothing", [], 120, []],
  ["one", minutely([1]), 0, []],
  ["the two newest stay, whatever the retention", minutely([1, 2]), 0, []],
  ["older ones go when the next one is older than the retention", minutely([1, 2, 3, 4, 5, 6]), 120, [2, 1]],
  ["exactly at its end it stays", minutely([1, 2, 3, 4]), 120, []],
  ["after a long pause the two newest stay", [...minutely([1, 2]), ...minutely([100])], 120, [1]],
  [
    "regions of another store have times of their own",
    [...minutely([1], ["DE"]), ...minutely([100, 101, 102, 103, 104], ["GB"])],
    60,
    [101, 100],
  ],
  [
    "one that is the second newest of any of its regions stays",
    [...minutely([1, 2], both), ...minutely([100, 101, 102], ["GB"])],
    60,
    [],
  ],
])("%s", (_, generations, retentionSeconds, expired) => {
  expect(findExpired(generations, { retentionSeconds })).toEqual(expired);
});

test("what is no file is refused, and no pipe is waited for", () => {
  const folder = newFolder("follow");
  const options = {
    stores: [],
    retentionSeconds: 0,
    memory: Memory.open(`${folder}/memory.db`),
    log: () => {},
  };
  expect(() => new LocalFile(folder, options)).toThrow("is no file");
  expect(Bun.spawnSync(["mkfifo", `${folder}/lists.db`]).exitCode).toBe(0);
  expect(() => new LocalFile(`${folder}/lists.db`, options)).toThrow("is no file");
});

const reason = mountRefusal();
test.skipIf(reason !== "")(
  `a file that is a mount point itself is refused before anything is made${reason}`,
  () => {
    const folder = newFolder("follow");
    const file = `${folder}/lists.db`;
    writeFileSync(file, "");
    const script = `
    import { LocalFile } from ${JSON.stringify(`${import.meta.dir}/local-file.ts`)};
    for (const path of process.argv.slice(1))
      try { new LocalFile(path, { log: () => console.log("taken") }); } catch (error) { console.log(error.message); }`;
    const printed = runWithMount(script, { file, mounted: `${folder}/other name.db` });
    expect(printed).toMatch(/^taken\n.*other name\.db itself is a mount point, over which no file.*\n$/);
    expect(readdirSync(folder).toSorted()).toEqual(["lists.db", "lists.db.work", "other name.db"]);
  },
);
