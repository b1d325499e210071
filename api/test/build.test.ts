import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { newFolder, root } from "@trendvault/kit/machine";
import { openBundle } from "@trendvault/kit/origin";
import { testEnvironment } from "@trendvault/kit/origin-process";

test("the documented build makes programs that run, also where bun is not on PATH", async () => {
  const folder = newFolder("build");
  const api = join(import.meta.dir, "..");
  const env = { PATH: "/usr/bin:/bin", HOME: folder };
  // In a folder without a .env: Bun would read the developer's own, and the origin would start.
  const run = (command: string[], settings: Record<string, string> = {}) =>
    Bun.spawn(command, { cwd: folder, env: { ...env, ...settings }, stdout: "pipe", stderr: "pipe" });
  const build = run([process.execPath, "run", "--cwd", api, "build", `--outdir=${folder}`]);
  expect(await build.exited).toBe(0);
  const origin = run([join(root, ".tools/bin/supervisor"), process.execPath, join(folder, "main.js")]);
  expect(await origin.stderr.text()).toStartWith("TOKEN_SIGNING_KEYS: missing");
  expect(await origin.exited).toBe(1);
  expect(readFileSync(join(folder, "engine.env"), "utf8")).toContain("\nBUN_JSC_"); // the supervisor looks for it there
  mkdirSync(join(folder, "web/page"), { recursive: true });
  symlinkSync(join(import.meta.dir, "../../web/page/dist"), join(folder, "web/page/dist"));
  await renderWith(join(folder, "render.js"), run);
  rmSync(folder, { recursive: true });
});

type Run = (command: string[], settings: Record<string, string>) => Bun.Subprocess<"ignore", "pipe", "pipe">;

/** Pages, feeds and the description of the API are in files beside the programs, which load them by themselves. */
async function renderWith(program: string, run: Run): Promise<void> {
  const builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(3) }]);
  const output = join(builder.folder, "a.bundle");
  const settings = testEnvironment;
  const render = run([process.execPath, program, "--database", builder.path, "--output", output], settings);
  const bundle = await openBundle(output, JSON.parse(await render.stdout.text()));
  for (const target of ["/?region=GB", "/about", "/docs", "/feeds/GB.atom", "/openapi.json"]) {
    expect(await bundle.read(target)).not.toBeNull();
  }
  const regions = [{ code: "GB", name: "Britain", languages: ["pl"] }];
  const own = { ...settings, REGIONS_TABLE: JSON.stringify({ default: "GB", regions }) };
  const again = run([process.execPath, program, "--database", builder.path, "--output", output], own);
  const ofOwn = await openBundle(output, JSON.parse(await again.stdout.text()));
  const textAt = async (target: string) => new TextDecoder().decode((await ofOwn.read(target))?.body);
  expect(await textAt("/?region=GB")).toContain('<html lang="pl"');
  expect(await textAt("/?region=GB")).toContain('"languages":{"GB":"pl"}');
  expect(JSON.parse(await textAt("/openapi.json")).components.schemas.Region.enum).toEqual(["GB"]);
  builder.remove();
}
