import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("the documented build makes programs that run, also where bun is not on PATH", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trendvault-build-"));
  const api = join(import.meta.dir, "..");
  const env = { PATH: "/usr/bin:/bin", HOME: folder };
  // In a folder without a .env: Bun would read the developer's own, and the origin would start.
  const run = (command: string[]) =>
    Bun.spawn(command, { cwd: folder, env, stdout: "ignore", stderr: "pipe" });
  const build = run([process.execPath, "run", "--cwd", api, "build", `--outdir=${folder}`]);
  expect(await build.exited).toBe(0);
  const origin = run([process.execPath, join(folder, "main.js")]);
  expect(await origin.stderr.text()).toStartWith("TOKEN_SIGNING_KEYS: missing");
  expect(await origin.exited).toBe(1);
  const render = run([process.execPath, join(folder, "render.js"), "--database", "a", "--output", "b"]);
  expect(await render.stderr.text()).toStartWith("TOKEN_SIGNING_KEYS: missing");
  expect(await render.exited).toBe(2);
  rmSync(folder, { recursive: true });
});
