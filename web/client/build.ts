import { join, resolve } from "node:path";
import { noticesName, noticesOf } from "../../tools/release/notices.ts";
import { writeTypes } from "./build-types.ts";
import { localeParts } from "./locale-parts.ts";

/** `bun build.ts [FOLDER]` writes dist/: the package's modules, the file of the script tag with its parts, the types. */

const dist = resolve(process.argv[2] ?? join(import.meta.dir, "dist"));
const sourceOf = (name: string) => join(import.meta.dir, "src", `${name}.ts`);
const entries = ["index", "verify", "element", "report-impressions", "react", "vue"];
const common = { target: "browser" as const, splitting: true, plugins: [localeParts] };

await Bun.$`rm -rf ${dist}`;
await Bun.build({
  ...common,
  entrypoints: entries.map(sourceOf),
  outdir: dist,
  naming: { chunk: "parts/[name]-[hash].[ext]" },
  external: ["structured-headers"],
});
const { metafile } = await Bun.build({
  ...common,
  metafile: true,
  entrypoints: [sourceOf("trendvault-list")],
  outdir: join(dist, "script"),
  minify: true,
});
await Bun.write(join(dist, noticesName), noticesOf([metafile]));
await writeTypes(entries, join(dist, "types"));
