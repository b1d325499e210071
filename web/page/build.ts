import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { workerPolicy } from "@trendvault/contract/page";
import { readRegionTable } from "@trendvault/contract/regions";
import { writeNotices } from "../../tools/release/notices.ts";
import { localeParts } from "../client/locale-parts.ts";
import { allMessages, readLanguages } from "../client/src/view/locales/all.ts";
import { writeFailure } from "./about-view.ts";
import type { Assets } from "./manifest.ts";

/**
 * Builds what browsers load into dist/public/, with a hash in each name, and dist/manifest.json, which names them for the
 * origin; or into another folder that is named. Files of builds before stay for a month: pages that are cached
 * somewhere name them.
 */

const folder = import.meta.dir;
const source = join(folder, "../client/src");
const dist = Bun.argv[2] ?? join(folder, "dist");
const assetsFolder = join(dist, "public/assets");
const elementName = "trendvault-list.js";
const dayMs = 24 * 60 * 60 * 1000;
const keptMs = 30 * dayMs;

const scripts = await buildScripts();
const assets: Assets = {
  pageCss: await addStyle(join(folder, "page.css")),
  listCss: await addStyle(join(source, "view/list.css")),
  pageJs: scripts.page,
  embedCss: await addStyle(join(source, "element/frame.css"), join(source, "view/list.css")),
  embedJs: scripts.embed,
  docsCss: await addStyle(join(folder, "docs.css")),
  docsJs: scripts.docs,
  swaggerCss: await addLibrary("swagger-ui.css"),
  swaggerJs: await addLibrary("swagger-ui-bundle.js"),
  pageParts: await importsOf(scripts.page),
  icon: addAsset("icon.svg", await Bun.file(join(folder, "icon.svg")).text()),
};
write(join(dist, "public/service-worker.js"), scripts.serviceWorker);
write(join(dist, "public/favicon.ico"), await Bun.file(join(folder, "icon.svg")).text());
writeFailures();
write(join(dist, "public/_headers"), headerRules());
write(join(dist, "manifest.json"), `${JSON.stringify(assets, null, 2)}\n`); // last: what it names is there
removeOld();

/**
 * The pages of people who go wrong at the edge, which names them by failureOf. They are those of the site that
 * REGIONS_FILE names, if it is set.
 */
function writeFailures(): void {
  const { REGIONS_FILE: file } = process.env;
  const { site, languages = {} } = file ? readRegionTable(readFileSync(file, "utf8")) : {};
  const files = Object.entries(languages).map(([tag, path]) => [
    tag,
    resolve(file ?? "", "..", String(path)),
  ]);
  const own = readLanguages(Object.fromEntries(files), (path) => readFileSync(path, "utf8"));
  for (const [language, messages] of Object.entries({ ...allMessages, ...own })) {
    for (const sentence of [400, 404, 503] as const) {
      const html = writeFailure({ sentence, language, messages, assets, site });
      write(join(dist, `public/failures/${sentence}-${language}.html`), html);
    }
  }
}

async function buildScripts(): Promise<Record<"page" | "embed" | "docs" | "serviceWorker", string>> {
  const options = {
    minify: true,
    target: "browser",
    naming: "[name]-[hash].[ext]",
    metafile: true,
    plugins: [localeParts],
  } satisfies Partial<Bun.BuildConfig>;
  // The HTML of page and frame links the styles that the element has in its script.
  const linkedStyles: Bun.BunPlugin = {
    name: "linked styles",
    setup: (build) => void build.onLoad({ filter: /\.css$/ }, () => ({ contents: "", loader: "text" })),
  };
  const built = await Bun.build({
    ...options,
    plugins: [localeParts, linkedStyles],
    entrypoints: ["page.ts", "embed.ts"].map((name) => join(folder, name)),
    splitting: true,
  });
  const element = await Bun.build({
    ...options,
    entrypoints: [join(source, "trendvault-list.ts")],
    splitting: true,
  });
  const docs = await Bun.build({ ...options, entrypoints: [join(folder, "docs.ts")] });
  const worker = await Bun.build({ ...options, entrypoints: [join(folder, "service-worker.ts")] });
  const entries: string[] = [];
  for (const output of [...built.outputs, ...element.outputs]) {
    const [text, name] = [await output.text(), basename(output.path)];
    const path = addFile(name, text);
    if (output.kind === "entry-point") entries.push(path);
    if (name.startsWith("trendvault-list-")) addFile(elementName, text); // for script tags, which cannot know the hash
  }
  const [page, embed] = ["page", "embed"].map((name) =>
    entries.find((path) => path.startsWith(`/assets/${name}-`)),
  );
  const [docsScript, serviceWorker] = [docs.outputs[0], worker.outputs[0]];
  if (page === undefined || embed === undefined || docsScript === undefined || serviceWorker === undefined) {
    throw new Error("Cannot find the scripts among what was built");
  }
  const docsPath = addFile(basename(docsScript.path), await docsScript.text());
  const metafiles = [built, element, docs, worker].map(({ metafile }) => metafile);
  writeNotices(join(dist, "public"), metafiles);
  return { page, embed, docs: docsPath, serviceWorker: await serviceWorker.text() };
}

/** The paths of what a built script imports at once, and what that imports. */
async function importsOf(path: string): Promise<string[]> {
  const text = await Bun.file(join(dist, "public", path)).text();
  const names = [...text.matchAll(/from ?"\.\/([\w-]+\.js)"/g)].map(([, name]) => `/assets/${name}`);
  return [...new Set([...names, ...(await Promise.all(names.map(importsOf))).flat()])];
}

// Not by Bun's bundler: it would write light-dark() for browsers that lack it, and then no site could choose the scheme.
/** A file of these, named after the first. */
async function addStyle(path: string, ...more: string[]): Promise<string> {
  const text = (await Promise.all([path, ...more].map((each) => Bun.file(each).text()))).join("\n");
  const small = text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,>]) ?/g, "$1")
    .replace(/: /g, ":")
    .replaceAll(";}", "}")
    .trim();
  return addAsset(basename(path), small);
}

/** A file of Swagger UI as it comes, with the licences of what is in it and without the name of a map that nobody has. */
async function addLibrary(name: string): Promise<string> {
  const read = (file: string) => Bun.file(join(folder, "node_modules/swagger-ui-dist", file)).text();
  const licences = name.endsWith(".js") ? await read(`${name}.LICENSE.txt`) : "";
  const text = (await read(name)).replace(/\n\/[/*]# sourceMappingURL=.*/, "");
  const notice = `Swagger UI. ${await read("NOTICE")}\nLicensed under the Apache License, Version 2.0`;
  return addAsset(name, `/*! ${notice} */\n${text}\n${licences}`);
}

function addAsset(name: string, text: string): string {
  const hash = new Bun.CryptoHasher("sha256")
    .update(text)
    .digest("base64url")
    .replace(/[-_]/g, "")
    .slice(0, 10);
  return addFile(name.replace(".", `-${hash}.`), text);
}

function addFile(name: string, text: string): string {
  write(join(assetsFolder, name), text);
  return `/assets/${name}`;
}

// By a rename: an origin may read it meanwhile. What is the same stays as it is, because wrangler starts the edge anew when
// a file changes; its date is renewed once a day, so that what is in use is not deleted.
function write(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  const known = existsSync(path) ? statSync(path).mtimeMs : null;
  if (known !== null && known > Date.now() - dayMs && readFileSync(path, "utf8") === text) return;
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

function removeOld(): void {
  for (const name of readdirSync(assetsFolder)) {
    const path = join(assetsFolder, name);
    if (statSync(path).mtimeMs < Date.now() - keptMs) rmSync(path);
  }
}

/** What Workers static assets send with each (https://developers.cloudflare.com/workers/static-assets/headers/). */
function headerRules(): string {
  return `/assets/*
  Cache-Control: public, max-age=31536000, immutable
  Access-Control-Allow-Origin: *
  Cross-Origin-Resource-Policy: cross-origin
  X-Content-Type-Options: nosniff
  Content-Security-Policy: default-src 'none'
/assets/${elementName}
  ! Cache-Control
  Cache-Control: public, max-age=300
/favicon.ico
  ! Content-Type
  Content-Type: image/svg+xml
  X-Content-Type-Options: nosniff
  Content-Security-Policy: default-src 'none'
/service-worker.js
  Cache-Control: no-cache
  X-Content-Type-Options: nosniff
  Content-Security-Policy: ${workerPolicy}
`;
}
