import { expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { Service } from "./services.ts";

setDefaultTimeout(1_200_000); // real processes on a busy machine

function startShell(script: string): { service: Service; folder: string } {
  const folder = newFolder("up");
  const service = new Service({
    name: "origin",
    command: ["sh", "-c", `cd ${folder}; ${script}`],
    env: { PATH: process.env.PATH ?? "" },
    logPath: join(folder, "log/origin.log"),
    readyUrl: "http://127.0.0.1:9/", // nothing answers there
  });
  return { service, folder };
}

test("a service that ends is named with its exit code, its last output and its log", async () => {
  const { service, folder } = startShell("echo the disk is gone >&2; exit 7");
  const sentence = await service.exited();
  expect(sentence).toContain("The origin ended with exit code 7.");
  expect(sentence).toContain("the disk is gone");
  expect(sentence).toContain(join(folder, "log/origin.log"));
});

test("a service killed by a signal is named with the signal", async () => {
  const { service } = startShell("kill -9 $$");
  expect(await service.exited()).toContain("was killed by SIGKILL");
});

test("a service that is stopped may finish its work after SIGTERM", async () => {
  const { service, folder } = startShell(
    "trap 'touch finished; exit 0' TERM; touch ready; while :; do sleep 0.01; done",
  );
  while (!existsSync(join(folder, "ready"))) await Bun.sleep(5);
  await service.stop();
  expect(existsSync(join(folder, "finished"))).toBe(true);
});

test("a service that does not answer is waited for until the timeout, with a line that says so", async () => {
  const { service } = startShell("sleep 600");
  const printed = spyOn(console, "log").mockImplementation(() => {});
  const { signal } = new AbortController();
  expect(await service.ready({ signal, timeoutMs: 100, progressIntervalMs: 0 })).toBe(false);
  expect(printed.mock.calls[0]?.[0]).toMatch(/^Waiting for the origin \(0 s\); its log: /);
  printed.mockRestore();
  await service.stop();
});

test("waiting for a service ends with the signal", async () => {
  const { service } = startShell("sleep 600");
  expect(await service.ready({ signal: AbortSignal.abort() })).toBe(false);
  await service.stop();
});
