import { afterEach, beforeEach, expect, test } from "bun:test";
import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { DatabaseBuilder } from "@trendvault/kit/database";
import { mountRefusal, runWithMount } from "@trendvault/kit/machine";
import { DatabaseFiles, requireFile } from "./database-files.ts";

let builder: DatabaseBuilder;
beforeEach(() => {
  builder = new DatabaseBuilder();
  builder.publish([]);
});
afterEach(() => builder.remove());

function link(target: string, name: string): string {
  const path = `${builder.folder}/${name}`;
  symlinkSync(target, path);
  return path;
}

const names = [
  { name: "its path", pathOf: () => builder.path },
  { name: "a link to it", pathOf: () => link(builder.path, "link.db") },
  { name: "a link to a link", pathOf: () => link(link(builder.path, "one.db"), "two.db") },
  { name: "a folder that is a link", pathOf: () => `${link(builder.folder, "folder")}/trendvault.db` },
];

test.each(names)("files that are deleted beside the database are seen through $name", ({ pathOf }) => {
  const path = pathOf();
  for (const suffix of ["-wal", "-shm"]) {
    const before = new DatabaseFiles(path);
    expect(new DatabaseFiles(builder.path).isUnchanged(before)).toBe(true);
    rmSync(builder.path + suffix);
    expect(new DatabaseFiles(path).isUnchanged(before)).toBe(false);
  }
});

test.each(["", "-journal"])("a pipe that has its name with %p is not opened", (suffix) => {
  const file = builder.path + suffix;
  expect(() => requireFile(builder.path)).not.toThrow();
  rmSync(file, { force: true });
  expect(Bun.spawnSync(["mkfifo", file]).exitCode).toBe(0);
  expect(() => requireFile(builder.path)).toThrow(`Cannot open ${file}: it is not a regular file`);
});

test.each(["-wal", "-shm"])(
  "a %s that was not there before is the same database's, one that was replaced is not",
  (suffix) => {
    const file = builder.path + suffix;
    const before = new DatabaseFiles(builder.path);
    expect(before.isSame(before)).toBe(true);
    renameSync(file, `${file}.kept`);
    const without = new DatabaseFiles(builder.path);
    writeFileSync(file, "another");
    const replaced = new DatabaseFiles(builder.path);
    expect(replaced.isSame(without)).toBe(true);
    expect(replaced.isSame(before)).toBe(false);
  },
);

const reason = mountRefusal();
test.skipIf(reason !== "")(`a database that is mounted under another name is refused there${reason}`, () => {
  const script = `
    import { requireFile } from ${JSON.stringify(`${import.meta.dir}/database-files.ts`)};
    for (const path of process.argv.slice(1)) try { requireFile(path); } catch (error) { console.log(error.message); }`;
  const printed = runWithMount(script, { file: builder.path, mounted: `${builder.folder}/other name.db` });
  expect(printed).toMatch(/^Cannot open .*other name\.db: the file itself is a mount point.*\n$/);
});
