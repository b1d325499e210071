import { expect, test } from "bun:test";
import { join } from "node:path";
import { billOfMaterials, debianParts, npmParts, pythonParts } from "./sbom.ts";

const root = join(import.meta.dir, "../..");

const lock = `{
  "lockfileVersion": 2,
  "workspaces": {
    "": { "name": "all", "devDependencies": { "checker": "1.0.0" } },
    "api": { "name": "@t/api", "dependencies": { "@s/server": "1.0.0" } },
  },
  "packages": {
    "@s/server": ["@s/server@1.0.0", "", { "dependencies": { "deep": "^1" } }, "sha512-AAEC"],
    "@s/server/deep": ["deep@1.5.0", "", {}, "sha512-AwQF"],
    "@t/api": ["@t/api@workspace:api"],
    "checker": ["checker@1.0.0", "", { "dependencies": { "deep": "^2" } }, "sha512-BgcI"],
    "deep": ["deep@2.0.0", "", {}, "sha512-CQoL"],
  },
}`;

test("what a served workspace runs with is required, with its own copies of others; the rest is excluded", () => {
  const parts = npmParts(lock, ["@t/api"]);
  expect(parts.map(({ purl, need }) => `${purl} ${need}`)).toEqual([
    "pkg:npm/%40s/server@1.0.0 required",
    "pkg:npm/deep@1.5.0 required",
    "pkg:npm/checker@1.0.0 excluded",
    "pkg:npm/deep@2.0.0 excluded",
  ]);
  expect(parts[0]?.needs).toEqual(["pkg:npm/deep@1.5.0"]);
  expect(parts[2]?.needs).toEqual(["pkg:npm/deep@2.0.0"]);
  expect(parts[0]?.hashes).toEqual([{ algorithm: "SHA-512", hex: "000102" }]);
});

test("every requirement of a pip lock is a part, whatever lines it goes over", () => {
  const parts = pythonParts(
    'A_b==1.2 \\\n    --hash=sha256:00 \\\n    --hash=sha256:01\n# no part\nc==3 ; python_version < "3.12" \\\n  --hash=sha256:02\n',
  );
  expect(parts.map(({ purl }) => purl)).toEqual(["pkg:pypi/a-b@1.2", "pkg:pypi/c@3"]);
});

test("a Debian package has its epoch, architecture and suite", () => {
  const [png, unit] = debianParts(
    "libpcap_1%3a2.75-10+deb13u1_amd64.deb\nphpunit_11.5.19-1_all.deb\n",
    "trixie",
  );
  expect(png?.purl).toBe("pkg:deb/debian/libpcap@1%3A2.75-10%2Bdeb13u1?arch=amd64&distro=trixie");
  expect([png?.need, unit?.need]).toEqual(["required", "excluded"]);
});

test("this project's bill of materials is valid, names what serves, and is the same twice", async () => {
  const served = ["@trendvault/api"];
  const parts = [
    ...npmParts(await Bun.file(join(root, "bun.lock")).text(), served),
    ...pythonParts(await Bun.file(join(root, "tools/setup/requirements.txt")).text()),
  ];
  const release = { version: "1.2.3", time: new Date("2026-11-22T00:00:00Z") };
  const json = await billOfMaterials(parts, release);
  expect(await billOfMaterials(parts.toReversed(), release)).toBe(json);
  const { components, metadata } = JSON.parse(json);
  expect(metadata.component.version).toBe("1.2.3");
  expect(components).toHaveLength(parts.length);
  const scope = (name: string) =>
    components.find((component: { name: string }) => component.name === name).scope;
  expect([scope("@prometheus-io/client"), scope("zod"), scope("locust"), scope("knip")]).toEqual([
    ...["required", "required", "optional", "excluded"],
  ]);
});
