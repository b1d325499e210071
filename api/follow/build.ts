import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeNotices } from "../../tools/release/notices.ts";

/** Builds the follower and bin/verify-history's program, minified and with bytecode. */
const { values } = parseArgs({ options: { outdir: { type: "string" } } });
const outdir = values.outdir ?? join(import.meta.dir, "dist");
const { metafile } = await Bun.build({
  entrypoints: ["main.ts", "verify-history.ts"].map((name) => join(import.meta.dir, "src", name)),
  outdir,
  target: "bun",
  minify: true,
  bytecode: true,
  metafile: true,
});
writeNotices(outdir, [metafile]);
