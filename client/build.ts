import { join } from "node:path";
import { writeTypes } from "./build-types.ts";

/** Writes dist/: the package's modules, the file of the script tag with its parts, and the types. */

const folder = import.meta.dir;
const sourceOf = (name: string) => join(folder, "src", `${name}.ts`);
const entries = ["index", "verify", "element", "tell-looks", "react", "vue"];

await Bun.$`rm -rf ${join(folder, "dist")}`;
const common = { target: "browser", splitting: true } as const;
await Bun.build({
  ...common,
  entrypoints: entries.map(sourceOf),
  outdir: join(folder, "dist"),
  naming: { chunk: "parts/[name]-[hash].[ext]" },
  external: ["structured-headers"],
});
await Bun.build({
  ...common,
  entrypoints: [sourceOf("trendvault-list")],
  outdir: join(folder, "dist/script"),
  minify: true,
});
await writeTypes(entries, join(folder, "dist/types"));
