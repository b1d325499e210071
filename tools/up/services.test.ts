import { expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { runStack } from "./services.ts";

setDefaultTimeout(1_200_000); // real processes on a busy machine

const unlimited = new AbortController().signal;

/** Runs a stack of one service, a script that never answers. */
function runShell(script: string, options: Partial<Parameters<typeof runStack>[1]> = {}) {
  const folder = newFolder("up");
  const service = {
    name: "origin",
    command: ["sh", "-c", `cd ${folder}; ${script}`],
    env: { PATH: process.env.PATH ?? "" },
    logPath: join(folder, "log/origin.log"),
    readyUrl: "http://127.0.0.1:9/", // nothing answers there
  };
  const whenReady = () => Promise.reject(new Error("it never answers"));
  return { folder, ended: runStack([service], { signal: unlimited, whenReady, ...options }) };
}

test("a service that ends is named with its exit code, its last output and its log", async () => {
  const { ended, folder } = runShell("echo the disk is gone >&2; exit 7");
  const sentence = await ended;
  expect(sentence).toContain("The origin ended with exit code 7.");
  expect(sentence).toContain("the disk is gone");
  expect(sentence).toContain(join(folder, "log/origin.log"));
});

test("a service killed by a signal is named with the signal", async () => {
  expect(await runShell("kill -9 $$").ended).toContain("was killed by SIGKILL");
});

test("a service of a stack that is stopped may finish its work after SIGTERM", async () => {
  const stop = new AbortController();
  const script = "trap 'touch finished; exit 0' TERM; touch ready; while :; do sleep 0.01; done";
  const { ended, folder } = runShell(script, { signal: stop.signal });
  while (!existsSync(join(folder, "ready"))) await Bun.sleep(5);
  stop.abort();
  expect(await ended).toBeNull();
  expect(existsSync(join(folder, "finished"))).toBe(true);
});

test("a service that does not answer is waited for until the time is over, with a line that says so", async () => {
  const printed = spyOn(console, "log").mockImplementation(() => {});
  const { ended } = runShell("exec sleep 600", { startTimeoutMs: 60, progressIntervalMs: 0 });
  expect(await ended).toStartWith("The origin did not answer at http://127.0.0.1:9/ within 0.06 seconds.");
  expect(printed.mock.calls[0]?.[0]).toMatch(/^Waiting for the origin \(0 s\); its log: /);
  printed.mockRestore();
});
