import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import { writeNotices } from "../tools/release/notices.ts";

/**
 * Builds the programs, minified and with bytecode, and beside them what they load with the first request for it: a file
 * of their own each, so that a start does not read them.
 */
const source = join(import.meta.dir, "src");
const programs = ["main.ts", "render.ts"];
const lazyModules = [
  "settings.ts",
  "process/lead.ts",
  "process/worker.ts",
  "database/inspector.ts",
  "resources/page-writers.ts",
  "resources/openapi.ts",
  "process/request-tracing.ts",
  "../../web/client/src/view/locales/all.ts",
];

const { values } = parseArgs({ options: { outdir: { type: "string" } } });

const besideThem: BunPlugin = {
  name: "beside them",
  setup(build) {
    const names = lazyModules.map((path) => path.slice(path.lastIndexOf("/") + 1, -".ts".length));
    build.onResolve({ filter: new RegExp(`/(${names.join("|")})\\.ts$`) }, ({ path, kind }) => {
      if (kind !== "require-call" && kind !== "dynamic-import") return undefined;
      return { path: `.${path.slice(path.lastIndexOf("/")).replace(/ts$/, "js")}`, external: true };
    });
  },
};

const outdir = values.outdir ?? join(import.meta.dir, "dist");
const { metafile } = await Bun.build({
  entrypoints: [...programs, ...lazyModules].map((path) => join(source, path)),
  outdir,
  naming: "[name].[ext]",
  target: "bun",
  format: "cjs",
  minify: true,
  bytecode: true,
  metafile: true,
  plugins: [besideThem],
});
writeNotices(outdir, [metafile]);
copyFileSync(join(source, "engine.env"), join(outdir, "engine.env"));
