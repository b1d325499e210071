import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BundleDocument } from "@trendvault/contract/bundle-file";
import { windows } from "@trendvault/contract/lists";
import { pageUrl } from "@trendvault/contract/page";
import { paths } from "@trendvault/contract/paths";
import { trendingUrl } from "@trendvault/contract/queries";
import { regionCodes, useRegions } from "@trendvault/contract/regions";
import { coveredComponents } from "@trendvault/contract/signature-base";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import {
  type OpenBundle,
  openBundle,
  openTestOrigin,
  type TestOrigin,
  testTime,
} from "@trendvault/kit/origin";
import { testEnvironment } from "@trendvault/kit/origin-process";
import { readLanguages } from "../../web/client/src/view/locales/all.ts";
import { renderBundle } from "../src/bundle/run-render.ts";
import { listen } from "../src/origin.ts";
import { readSettings } from "../src/settings.ts";

const edgeKey = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const env = { VIDEO_URL: "https://site.example/watch/{id}", EDGE_SIGNING_PUBLIC_KEYS: edgeKey };

let builder: DatabaseBuilder;
let origin: TestOrigin;
let server: ReturnType<typeof listen>;
let rendered: Awaited<ReturnType<typeof render>>;
let bundle: OpenBundle;

beforeAll(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(3, "old") }], 1_795_171_100);
  builder.publish([
    { region: "GB", videos: videos(130) },
    { region: "GB", category: "Kids' TV", videos: videos(30) },
    { region: "PL", window: "now", category: "Kids' TV", videos: videos(60, "other") },
    { region: "PL", window: "now", videos: videos(3) },
    { region: "PL", window: "now", category: "#language:pl", videos: videos(60, "other") },
    { region: "PL", window: "now", category: "#language:duration=long", videos: videos(30, "other") },
  ]);
  builder.observe("video1", "GB", [
    [1_795_160_000, 7],
    [1_795_170_000, 900],
  ]);
  builder.takeDown("video", "video2");
  origin = await openTestOrigin(builder.path, env);
  server = listen(origin.origin, { hostname: "127.0.0.1", port: 0 });
  const path = join(builder.folder, "rendered.bundle");
  rendered = await render(path);
  bundle = await openBundle(path, rendered);
});

afterAll(async () => {
  await server.stop();
  origin.watcher.close();
  builder.remove();
});

const program = {
  words: [process.execPath, "--no-env-file", join(import.meta.dir, "../src/render.ts")],
  env: { ...testEnvironment, ...env },
};

type Rendering = { database?: string; processes?: number; programEnv?: Record<string, string> };

async function render(output: string, options: Rendering = {}) {
  const { database = builder.path, processes = 1, programEnv = program.env } = options;
  const settings = readSettings({ ...testEnvironment, ...env, DB_PATH: database });
  const others = { processes, program: { ...program, env: programEnv }, onProgress() {} };
  return renderBundle({ settings, output, now: testTime, ...others });
}

/** What the origin answers by HTTP, in the form of a document. */
async function ask(target: string): Promise<BundleDocument> {
  const response = await fetch(`http://127.0.0.1:${server.port}${target}`, {
    headers: { "accept-encoding": "identity" },
  });
  const names = [...coveredComponents.slice(1), "signature-input", "signature"];
  const fields = Object.fromEntries(names.map((name) => [name, response.headers.get(name) ?? ""]));
  return {
    target,
    status: response.status,
    fields: fields as BundleDocument["fields"],
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

/** What pages, lists and feeds link to at this site: in attributes of HTML and Atom, in members of JSON. */
function linksOf({ body }: BundleDocument): string[] {
  const text = new TextDecoder().decode(body);
  const links = [...text.matchAll(/(?: href="|"next":")(\/[^"]*)"/g)].map(([, link = ""]) => link);
  return links
    .map((link) => link.replaceAll("&amp;", "&").replace(/#.*/, ""))
    .filter((link) => !/^\/(assets\/|$)/.test(link));
}

type Found = BundleDocument | { target: string; missing: true };

let found: Promise<Found[]> | undefined;

/** The bundle's documents that links lead to, from the first pages of all regions on. */
async function crawl(): Promise<Found[]> {
  const lists = regionCodes.flatMap((region) => windows.map((window) => ({ region, window })));
  const known = new Set(lists.flatMap((list) => [pageUrl(list), pageUrl(list, paths.embed)]));
  for (const list of lists) for (const limit of [24, 50]) known.add(trendingUrl({ ...list, limit }));
  const documents: Found[] = [];
  for (const target of known) {
    const document = await bundle.read(target);
    documents.push(document ?? { target, missing: true });
    for (const link of document === null ? [] : linksOf(document)) known.add(link.replace(/#.*/, ""));
  }
  return documents;
}

test("what is in the bundle is what the origin answers by HTTP, with the same fields and bytes", async () => {
  let compared = 0;
  found ??= crawl();
  for (const document of await found) {
    if ("missing" in document) continue;
    expect(document).toEqual(await ask(document.target));
    compared++;
  }
  expect(compared).toBeGreaterThan(500);
});

test("it says by oEmbed how to frame each first page, where the site has a public address", async () => {
  const file = join(builder.folder, "site.json");
  await Bun.write(file, JSON.stringify({ site: { name: "Kanal", public_url: "https://lists.example/" } }));
  const settings = readSettings({ ...testEnvironment, ...env, DB_PATH: builder.path, REGIONS_FILE: file });
  const path = join(builder.folder, "offered.bundle");
  try {
    const options = { settings, output: path, now: testTime, processes: 1, program, onProgress() {} };
    const offered = await openBundle(path, await renderBundle(options));
    for (const [search, more] of [
      ["?region=GB", ""],
      ["?region=GB&lang=pl", "&maxwidth=500"],
      ["?region=PL&window=now&category=Kids%27%20TV", "&maxwidth=300"],
    ] as const) {
      const page = encodeURIComponent(`https://lists.example/${search}`);
      const document = await offered.read(`/oembed?url=${page}${more}`);
      const src = `https://lists.example/embed${search}`;
      expect(JSON.parse(new TextDecoder().decode(document?.body)).html).toContain(
        ` src="${src.replaceAll("&", "&amp;")}"`,
      );
    }
    const sitemap = new TextDecoder().decode((await offered.read("/sitemap.xml"))?.body);
    expect(sitemap).toContain("<loc>https://lists.example/?region=PL&amp;lang=de</loc>");
    expect(await offered.read("/robots.txt")).not.toBeNull();
  } finally {
    useRegions(null);
  }
  expect(await bundle.read("/robots.txt")).toBeNull();
  expect(await bundle.read("/oembed?url=https%3A%2F%2Flists.example%2F%3Fregion%3DGB")).toBeNull();
});

test("every link of every document leads to a document, but for further pages in a further language", async () => {
  found ??= crawl();
  const missing = (await found).filter((document) => "missing" in document).map(({ target }) => target);
  const others = missing.filter(
    (target) => !/^\/\?(.*(category|audience|live|duration)=.*lang=|.*lang=.*cursor=)/.test(target),
  );
  expect(others).toEqual([]);
});

const someTargets = [
  "/api/trending?region=DE&window=week&category=Kids%27%20TV&fields=snippet&limit=50",
  "/api/trending?region=GB&fields=chart&limit=50&cursor=2-100",
  "/api/trending?region=GB&fields=snippet&cursor=2-120",
  "/api/trending?region=PL&window=now&language=pl&cursor=2-48",
  "/api/trending?region=PL&window=now&language=pl&fields=chart&limit=50",
  "/api/trending?region=PL&window=now&duration=long&cursor=2-24",
  "/?region=GB&cursor=2-120",
  "/?region=PL&window=now&category=Kids%27%20TV&cursor=2-48",
  "/feeds/PL.atom?window=now&category=Kids%27%20TV",
  "/feeds/PL.json?window=now&duration=long",
  "/api/export/GB.ndjson",
  "/api/export/PL.ndjson?window=now",
  "/api/videos/video1",
  "/api/videos/video1/explain?region=GB",
  "/api/videos/other60/explain?region=PL&window=now",
  "/api/regions",
  "/api/about",
  "/about",
  "/docs",
  "/openapi.json",
  "/.well-known/jwks.json",
  "/problems/not-found",
];

test.each(someTargets)("%s is in it", async (target) => {
  expect(await bundle.read(target)).toEqual(await ask(target));
});

test.each([
  ["a video that was taken down", "/api/videos/video2"],
  ["its explanation", "/api/videos/video2/explain?region=GB"],
  ["a video that is in no list", "/api/videos/old1"],
  ["a page after the last", "/api/trending?region=GB&cursor=2-144"],
  ["a page of another generation", "/api/trending?region=GB&cursor=1-0"],
  ["a list of a language that has none there", "/api/trending?region=GB&language=pl"],
  ["a list by a kind that has none there", "/api/trending?region=GB&duration=long"],
  ["another limit", "/api/trending?region=GB&limit=7"],
  ["an asset", "/service-worker.js"],
])("%s is not in it", async (_, target) => {
  expect(await bundle.read(target)).toBeNull();
});

test("the manifest says what it was made of", () => {
  const { buckets_at: _, ...manifest } = bundle.manifest;
  expect(manifest).toEqual({
    version: 1,
    generation: 2,
    generated_at: "2026-11-20T10:40:00Z",
    signed_at: testTime / 1000,
    documents: rendered.documents,
    bucket_bits: expect.any(Number),
    limits: [24, 50],
    regions: [...regionCodes].sort(),
  });
});

test("the keys name the edge's, for responses and for tokens", async () => {
  const keys = JSON.parse(new TextDecoder().decode((await bundle.read("/.well-known/jwks.json"))?.body)).keys;
  const kid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"; // RFC 8037, appendix A.3
  const delegated = {
    kty: "OKP",
    crv: "Ed25519",
    x: edgeKey,
    use: "sig",
    alg: "EdDSA",
    delegated_to: "edge",
  };
  expect(keys.slice(2)).toEqual([
    { ...delegated, kid, purpose: "responses" },
    { ...delegated, kid: kid.slice(0, 8), purpose: "tokens" },
  ]);
});

test("at the same time the same generation gives the same file", async () => {
  expect(await render(join(builder.folder, "again.bundle"))).toEqual(rendered);
});

test("a generation of some regions makes a bundle of their documents alone", async () => {
  const some = new DatabaseBuilder();
  some.publishRegions([{ region: "IE", videos: videos(3) }], { codes: ["GB", "IE"], id: 256 });
  const path = join(some.folder, "some.bundle");
  const { manifest, read } = await openBundle(path, await render(path, { database: some.path }));
  expect([manifest.generation, manifest.regions]).toEqual([256, ["GB", "IE"]]);
  const targets = [
    "/api/trending?region=IE",
    "/?region=GB",
    "/feeds/IE.atom",
    "/api/export/IE.ndjson",
    "/api/trending?region=DE",
    "/?region=DE",
  ];
  const found = await Promise.all(targets.map(async (target) => (await read(target)) !== null));
  expect(found).toEqual([true, true, true, true, false, false]);
  some.remove();
}, 1_200_000);

test("several processes give the same documents in another order", async () => {
  const path = join(builder.folder, "shared.bundle");
  const shared = await render(path, { processes: 3 });
  expect(shared.documents).toBe(rendered.documents);
  const other = await openBundle(path, shared);
  for (const target of someTargets) expect(await other.read(target)).toEqual(await bundle.read(target));
}, 1_200_000);

test("what one of several processes says is the error, and nothing is left", async () => {
  const output = join(builder.folder, "keyless.bundle");
  await expect(render(output, { processes: 2, programEnv: {} })).rejects.toThrow("SIGNING_KEYS: missing");
  expect(existsSync(output)).toBe(false);
}, 1_200_000);

test("nothing is left of a bundle that cannot be finished", async () => {
  const output = join(builder.folder, "broken.bundle");
  builder.database.run("DELETE FROM trending WHERE region = 'PL' AND rank = 2 AND category <> ''");
  await expect(render(output)).rejects.toThrow("gaps");
});

test("a bundle of a deployment with regions and languages of its own has these, and of regions no others", async () => {
  const regions = [{ code: "GB", name: "Britain", languages: ["pl", "cy"] }];
  const languages = readLanguages({ cy: "cy.json" }, () => '{"dir": "ltr", "more": "Mwy"}');
  const own = { REGIONS_TABLE: JSON.stringify({ default: "GB", regions, languages }) };
  const settings = readSettings({ ...testEnvironment, ...env, ...own, DB_PATH: builder.path });
  const path = join(builder.folder, "own.bundle");
  const others = { processes: 1, program, onProgress() {} };
  try {
    const made = await openBundle(
      path,
      await renderBundle({ settings, output: path, now: testTime, ...others }),
    );
    expect(made.manifest.regions).toEqual(["GB"]);
    const page = new TextDecoder().decode((await made.read("/?region=GB&lang=cy"))?.body);
    expect(page).toContain('<html lang="cy" dir="ltr">');
    expect(page).toContain(">Mwy</a>");
  } finally {
    useRegions(null);
  }
});
