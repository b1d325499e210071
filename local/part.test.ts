import { expect, test } from "bun:test";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Part } from "./part.ts";

function startShell(script: string): { part: Part; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "trendvault-part-"));
  const part = new Part({
    name: "origin",
    command: ["sh", "-c", `cd ${folder}; ${script}`],
    env: { PATH: process.env.PATH ?? "" },
    logPath: join(folder, "log/part.log"),
    readyUrl: "http://127.0.0.1:9/", // nothing answers there
  });
  return { part, folder };
}

test("a part that dies is named with its exit code, its last words and its log", async () => {
  const { part, folder } = startShell("echo the disk is gone >&2; exit 7");
  const sentence = await part.died();
  expect(sentence).toContain("The origin ended with exit code 7.");
  expect(sentence).toContain("the disk is gone");
  expect(sentence).toContain(join(folder, "log/part.log"));
});

test("a part killed by a signal is named with the signal", async () => {
  const { part } = startShell("kill -9 $$");
  expect(await part.died()).toContain("was killed by SIGKILL");
});

test("stopping a part lets it finish what SIGTERM asks of it", async () => {
  const { part, folder } = startShell(
    "trap 'touch finished; exit 0' TERM; touch ready; while :; do sleep 0.01; done",
  );
  while (!existsSync(join(folder, "ready"))) await Bun.sleep(5);
  await part.stop();
  expect(existsSync(join(folder, "finished"))).toBe(true);
});
