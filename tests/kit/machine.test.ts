import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { exitOf, freePort, isRunning, killLaunched, launch, newFolder, until } from "./machine.ts";

setDefaultTimeout(1_200_000); // a busy machine

const program = `
import { launch, newFolder } from "${join(import.meta.dir, "machine.ts")}";
import { spawn } from "node:child_process";
const folder = newFolder("killed");
spawn("sh", ["-c", 'echo $$ >"$1/other"; exec sleep 1000', "sh", folder]);
launch(["sh", "-c", 'echo $$ >"$1/pid"; sleep 1000', "sh", folder]);
console.log(folder);
await new Promise(() => {});
`;

test("what a killed run has started ends, and its folder goes", async () => {
  const child = launch([process.execPath, "-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  const folder = await new Promise<string>((resolve) =>
    child.stdout?.once("data", (text) => resolve(String(text).trim())),
  );
  const files = ["pid", "other"].map((name) => join(folder, name)); // of one that it launched, and of a library's
  await until(() => files.every((file) => existsSync(file) && readFileSync(file, "utf8") !== ""));
  const started = files.map((file) => Number(readFileSync(file, "utf8")));
  child.kill("SIGKILL");
  expect(await exitOf(child)).toBe(128 + 9);
  await until(() => !started.some(isRunning) && !existsSync(folder));
});

test("what a run left whose warden was killed, too, goes with the next start, what another has that goes on does not", async () => {
  const parent = newFolder("parent");
  const dead = Bun.spawnSync(["true"]).pid;
  const folders = [dead, process.pid, "of-another"].map((whose) => join(parent, `trendvault-tests-${whose}`));
  for (const folder of folders) mkdirSync(join(folder, "a test/full"), { recursive: true });
  Bun.spawnSync(["mount", "-t", "tmpfs", "tmpfs", join(folders[0] ?? "", "a test/full")]); // where this user may
  const env = { ...process.env, TMPDIR: parent };
  const child = launch([process.execPath, "-e", program], { env, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, true, true]);
  await killLaunched(child);
});

test("where what an ended run has started still writes, another run starts", async () => {
  const parent = newFolder("parent");
  const left = join(parent, `trendvault-tests-${Bun.spawnSync(["true"]).pid}`);
  mkdirSync(left);
  const write = 'while :; do { :; } >"$1/$((count += 1))"; done';
  const writer = launch(["sh", "-c", write, "sh", left], { stdio: "ignore" });
  await until(() => existsSync(join(left, "100")));
  const env = { ...process.env, TMPDIR: parent };
  const child = launch(["node", "-e", program], { env, stdio: ["ignore", "pipe", "ignore"] });
  const folder = new Promise((resolve) => child.stdout?.once("data", resolve));
  expect(String(await Promise.race([folder, exitOf(child)]))).toContain("killed-");
  for (const one of [child, writer]) await killLaunched(one);
});

test("a launched program's exit code is that of a shell", async () => {
  expect(await exitOf(launch(["sh", "-c", "exit 7"]))).toBe(7);
  expect(await exitOf(launch(["sh", "-c", "kill -TERM $$"]))).toBe(128 + 15);
  expect(newFolder("a")).not.toBe(newFolder("a"));
});

test("of a thousand ports that two processes draw at once, none is drawn twice", async () => {
  const draw = `
import { freePort } from "${join(import.meta.dir, "machine.ts")}";
for (let count = 0; count < 500; count++) console.log(await freePort());
await new Promise(() => {});
`;
  const child = launch([process.execPath, "-e", draw], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout?.on("data", (text) => {
    printed += text;
  });
  const ports = new Set<string>();
  for (let count = 0; count < 500; count++) ports.add(String(await freePort()));
  const portsOfOther = () => printed.split("\n").slice(0, -1);
  await until(() => portsOfOther().length === 500);
  expect(new Set([...ports, ...portsOfOther()]).size).toBe(1000);
  await killLaunched(child);
});
