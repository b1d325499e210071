import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder, root } from "@trendvault/kit/machine";
import { writeNotices } from "./notices.ts";

const program = join(root, "tools/release/package-debian");
const missing = ["dpkg-deb", "systemd-analyze"].filter((name) => Bun.which(name) === null);
const forTrial = ["dpkg-deb", "debootstrap", "systemd-nspawn"];
const canTry = process.getuid?.() === 0 && forTrial.every((name) => Bun.which(name) !== null);

let folder: string;
beforeAll(() => {
  folder = newFolder("package");
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The path of the package, made anew and not compressed. */
async function makePackage(version: string, name = version): Promise<string> {
  const place = join(folder, name);
  mkdirSync(place);
  const env = { ...process.env, DPKG_DEB_COMPRESSOR_TYPE: "none" };
  return (await Bun.$`${program} ${place} ${version}`.env(env).text()).trim();
}

test.skipIf(missing.length > 0)(
  `the package has what units and commands name, twice the same bytes${missing.length > 0 ? `: without ${missing}` : ""}`,
  async () => {
    const path = await makePackage("1.2.3-rc.1");
    const list = await Bun.$`dpkg-deb --contents ${path}`.text();
    const rows = list
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/\s+/));
    expect(new Set(rows.map(([, , , date, time]) => `${date} ${time}`)).size).toBe(1);
    const entries = new Map(
      rows.map(([mode, owner, , , , name = ""]) => [name.slice(1), `${mode} ${owner}`]),
    );
    const programs = [
      ".tools/bin/bun",
      ".tools/bin/supervisor",
      "bin/check-settings",
      "writer/bin/writer",
      "writer/deploy/trendvault",
    ];
    for (const name of programs) expect(entries.get(`/opt/trendvault/${name}`)).toBe("-rwxr-xr-x root/root");
    for (const name of [
      "api/dist/engine.env",
      "api/dist/main.js.jsc",
      "api/dist/render.js",
      "web/page/dist/manifest.json",
      "db/regions.json",
    ])
      expect(entries.get(`/opt/trendvault/${name}`)).toBe("-rw-r--r-- root/root");
    for (const name of ["writer", "origin", "follow"])
      expect(entries.get(`/etc/trendvault/${name}.env`)).toBe("-rw-r----- root/root");
    expect(
      [...entries.keys()].filter((name) => /\/(tests?|node_modules|\.git)\/|\.test\./.test(name)),
    ).toEqual([]);
    expect(await Bun.$`dpkg-deb --field ${path} Version`.text()).toBe("1.2.3~rc.1\n");

    const tree = join(folder, "tree");
    await Bun.$`dpkg-deb --extract ${path} ${tree}`;
    await verifyUnits(tree);
    const notices = await Bun.file(join(tree, "usr/share/doc/trendvault/copyright")).text();
    for (const title of [
      "@prometheus-io/client",
      "@opentelemetry/core",
      "fast-xml-builder",
      "structured-headers",
    ])
      expect(notices).toMatch(new RegExp(`^${title} [0-9.]+ \\((MIT|Apache-2\\.0)\\)$`, "m"));
    const again = await makePackage("1.2.3-rc.1", "again");
    expect(await hashOf(again)).toBe(await hashOf(path));
  },
);

test("a build that takes code of a package without a licence's text fails, as does one that says no licence", async () => {
  const place = join(folder, "node_modules/@some/package");
  await Bun.write(join(place, "package.json"), '{"name":"@some/package","version":"1.0.0","license":"MIT"}');
  const metafile = { inputs: { "node_modules/@some/package/a.js": {} } } as never;
  const write = () => writeNotices(folder, [metafile], folder);
  expect(write).toThrow("@some/package 1.0.0: expected a licence");
  await Bun.write(join(place, "LICENSE.md"), "Do what you like.\n");
  write();
  const notices = await Bun.file(join(folder, "THIRD-PARTY.txt")).text();
  expect(notices).toEndWith("@some/package 1.0.0 (MIT)\n\nDo what you like.\n");
  await Bun.write(join(place, "package.json"), '{"name":"@some/package","version":"1.0.0"}');
  expect(write).toThrow("expected a licence");
});

/** In a tree with the little that a system has of its own. */
async function verifyUnits(tree: string): Promise<void> {
  const units = readdirSync(join(tree, "usr/lib/systemd/system"));
  expect(units.toSorted()).toEqual(
    ["follow.service", "origin.service", "writer.service", "writer.timer"].map(
      (name) => `trendvault-${name}`,
    ),
  );
  await Bun.write(join(tree, "bin/sh"), "");
  chmodSync(join(tree, "bin/sh"), 0o755);
  for (const name of ["sysinit", "basic", "shutdown", "network-online"])
    await Bun.write(join(tree, `usr/lib/systemd/system/${name}.target`), "[Unit]\n");
  const said = await Bun.$`systemd-analyze verify --root=${tree} --man=no ${units}`.nothrow().quiet();
  expect(said.stderr.toString()).toBe("");
  expect(said.exitCode).toBe(0);
}

async function hashOf(path: string): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(await Bun.file(path).arrayBuffer()).digest("hex");
}

test.skipIf(!process.env.TEST_LONG || !canTry)(
  `a booted Debian installs, upgrades and purges it (--long, as root, with ${forTrial.join(", ")})`,
  async () => {
    const [old, next] = [await makePackage("1.0.0"), await makePackage("1.0.1")];
    await Bun.$`${join(root, "ops/debian/try")} ${old} ${next}`;
  },
);
