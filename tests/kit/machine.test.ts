import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { exitOf, launch, newFolder, until } from "./machine.ts";

setDefaultTimeout(60_000); // a busy machine

const program = `
import { launch, newFolder } from "${join(import.meta.dir, "machine.ts")}";
const folder = newFolder("killed");
launch(["sh", "-c", 'echo $$ >"$1/pid"; sleep 1000', "sh", folder]);
console.log(folder);
await new Promise(() => {});
`;

test("what a killed run has started ends, and its folder goes", async () => {
  const child = launch([process.execPath, "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const folder = await new Promise<string>((resolve) =>
    child.stdout?.once("data", (text) => resolve(String(text).trim())),
  );
  const pid = join(folder, "pid");
  await until(() => existsSync(pid) && readFileSync(pid, "utf8") !== "");
  const started = Number(readFileSync(pid, "utf8"));
  child.kill("SIGKILL");
  expect(await exitOf(child)).toBe(128 + 9);
  await until(() => !existsSync(`/proc/${started}`) && !existsSync(folder));
});

test("a launched program's exit code is that of a shell", async () => {
  expect(await exitOf(launch(["sh", "-c", "exit 7"]))).toBe(7);
  expect(await exitOf(launch(["sh", "-c", "kill -TERM $$"]))).toBe(128 + 15);
  expect(newFolder("a")).not.toBe(newFolder("a"));
});
