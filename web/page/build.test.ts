import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { pageLanguages, readPageHead } from "@trendvault/contract/page";
import { styleOf } from "@trendvault/contract/regions";
import { readManifest } from "./manifest.ts";

const largest = 25 * 1024; // bytes of JavaScript and CSS that a visitor loads

const dist = join(import.meta.dir, "dist");
const assets = readManifest(readFileSync(join(dist, "manifest.json"), "utf8"));
const folder = join(dist, "public/assets");
const read = (path: string) => readFileSync(join(folder, path.slice(path.lastIndexOf("/") + 1)), "utf8");
const compressed = (path: string) => brotliCompressSync(read(path)).length;

/** A script and what it imports, at once or (`isLazy`) later. */
function importsOf(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, next] of read(path).matchAll(/from ?"(\.\/[\w-]+\.js)"/g)) importsOf(next ?? "", found);
  return found;
}

test("what a visitor loads is at most 25 KB compressed, with the messages of one language", () => {
  const script = [...importsOf(assets.pageJs)].map(read).join("\n");
  const lazy = [
    ...new Set([...script.matchAll(/import\("(\.\/[\w-]+\.js)"\)/g)].map(([, path]) => path ?? "")),
  ];
  const ofLanguages = (word: string) =>
    lazy.filter((path) => read(path).includes(`${word}:`)).map(compressed);
  const [ofList, ofPage] = [ofLanguages("viewsAnHour"), ofLanguages("allCategories")];
  expect([ofList.length, ofPage.length]).toEqual([pageLanguages.length, pageLanguages.length]);
  console.log(`Words of a list in one language: ${Math.max(...ofList)} bytes compressed`);
  const messages = Math.max(...ofList) + Math.max(...ofPage);
  const once = [assets.pageCss, assets.listCss, ...importsOf(assets.pageJs)].map(compressed);
  const bytes = once.reduce((sum, size) => sum + size, messages);
  console.log(`JavaScript and CSS of the page: ${bytes} bytes compressed`);
  expect(bytes).toBeLessThan(largest);
});

test("the page names what its script imports at once, so that browsers need not find it", () => {
  const imported = [...importsOf(assets.pageJs)].slice(1).map((path) => path.replace("./", "/assets/"));
  expect(new Set(assets.pageParts)).toEqual(new Set(imported));
});

test("every asset has its hash in its name, and is text that the edge can pass on", () => {
  const names = readdirSync(folder).filter((name) => name !== "trendvault-list.js"); // of script tags
  for (const name of names) expect(name).toMatch(/^[\w-]+-\w{8,10}\.(css|js|svg)$/);
});

test("what the edge sends with an asset lets other sites load it, and for good", () => {
  const rules = readFileSync(join(dist, "public/_headers"), "utf8");
  for (const field of [
    "immutable",
    "Access-Control-Allow-Origin: *",
    "Cross-Origin-Resource-Policy: cross-origin",
  ]) {
    expect(rules).toContain(field);
  }
});

test("the edge's own error pages are those of the site and its languages, for which they are built", async () => {
  const own = mkdtempSync(join(tmpdir(), "trendvault-page-"));
  try {
    const site = { name: "Kanal <Eins>", colours: { light: { accent: "#00629b" } } };
    const REGIONS_FILE = join(own, "regions.json");
    writeFileSync(REGIONS_FILE, JSON.stringify({ site, languages: { cy: "cy.json" } }));
    writeFileSync(join(own, "cy.json"), '{"dir": "ltr", "nothingHere": "Dim byd yma"}');
    const command = [process.execPath, join(import.meta.dir, "build.ts"), join(own, "dist")];
    expect(await Bun.spawn(command, { env: { ...process.env, REGIONS_FILE } }).exited).toBe(0);
    const pageIn = (folder: string, name: string) =>
      readFileSync(join(folder, `public/failures/${name}.html`), "utf8");
    const hash = new Bun.CryptoHasher("sha256").update(styleOf(site)).digest("base64");
    for (const [name, title] of [
      ["404-cy", "Dim byd yma"],
      ["404-de", "Hier ist nichts"],
    ] as const) {
      const html = pageIn(join(own, "dist"), name);
      expect(html).toContain(`<h1>${title}</h1>`);
      expect(html).toContain("Kanal &lt;Eins&gt;</a>");
      expect(html).toContain(`<style>${styleOf(site)}</style>`);
      expect(readPageHead(html)?.policy).toContain(`style-src 'self' 'sha256-${hash}';`);
    }
    for (const language of pageLanguages) expect(pageIn(dist, `503-${language}`)).not.toContain("brand");
  } finally {
    rmSync(own, { recursive: true });
  }
});
