import { cpSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * `bun pack.ts FOLDER` packs the package as npm publishes it (FOLDER/package.tgz) and installs it in FOLDER, with what
 * its users may have beside it. It is built there, too: several tests do this at the same time.
 */

const beside = ["structured-headers", "react", "react-dom", "@types/react", "vue"];

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("Usage: bun pack.ts FOLDER");
const folder = resolve(name);
const staged = join(folder, "staged");
const modules = join(folder, "node_modules");
const installed = join(modules, "@trendvault/client");

mkdirSync(staged);
mkdirSync(installed, { recursive: true });
for (const file of ["package.json", "README.md", "../../LICENSE"]) {
  cpSync(join(import.meta.dir, file), join(staged, file.replace("../../", "")));
}
await Bun.$`bun build.ts ${join(staged, "dist")}`.cwd(import.meta.dir).quiet();
await Bun.$`npm pack --silent --ignore-scripts --pack-destination ${folder}`.cwd(staged).quiet();
await Bun.$`mv ${join(folder, "trendvault-client-")}*.tgz package.tgz`.cwd(folder);
await Bun.$`tar -xzf package.tgz --strip-components=1 -C ${installed}`.cwd(folder);
for (const dependency of beside) {
  mkdirSync(dirname(join(modules, dependency)), { recursive: true });
  symlinkSync(realpathSync(join(import.meta.dir, "node_modules", dependency)), join(modules, dependency));
}
