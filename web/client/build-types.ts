import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dir, "../..");
const contractPackage = "@trendvault/contract/";

/**
 * Writes the declarations of entries of src/, and of what they name, into a folder. Those of contract/ come with them:
 * it is not published.
 */
export async function writeTypes(entries: readonly string[], folder: string): Promise<void> {
  const emitted = mkdtempSync(join(tmpdir(), "trendvault-types-"));
  try {
    await emit(entries, emitted);
    const left = entries.map((name) => `web/client/src/${name}.d.ts`);
    const written = new Set<string>();
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      if (written.has(path)) continue;
      written.add(path);
      const { text, imports } = withRelativeImports(path, readFileSync(join(emitted, path), "utf8"));
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      left.push(...imports);
    }
  } finally {
    rmSync(emitted, { recursive: true });
  }
}

async function emit(entries: readonly string[], outDir: string): Promise<void> {
  const config = join(outDir, "tsconfig.json");
  const compilerOptions = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir, types: [] },
    // As files of ours: the compiler writes nothing for those of a package.
    paths: { [`${contractPackage}*`]: [join(root, "contract/*.ts")] },
  };
  const files = [
    ...entries.map((name) => join(root, `web/client/src/${name}.ts`)),
    join(root, "web/client/css.d.ts"),
  ];
  const extended = join(root, "web/client/tsconfig.json");
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions, files, include: [] }));
  const { exitCode, stdout } = await Bun.$`bun run tsc --project ${config}`.cwd(root).quiet().nothrow();
  if (exitCode !== 0) throw new Error(`Cannot write the types:\n${stdout}`);
}

/** Names the files of our own as a published declaration has to: relative, and by the module that they describe. */
function withRelativeImports(path: string, text: string): { text: string; imports: string[] } {
  const imports: string[] = [];
  const rewritten = text.replace(moduleNames, (whole, keyword: string, name: string) => {
    const isContract = name.startsWith(contractPackage);
    if (!isContract && !name.startsWith(".")) return whole;
    const source = isContract
      ? `contract/${name.slice(contractPackage.length)}.ts`
      : join(dirname(path), name);
    imports.push(source.replace(/\.ts$/, ".d.ts"));
    const to = relative(dirname(path), source.replace(/\.ts$/, ".js"));
    return `${keyword}"${to.startsWith(".") ? to : `./${to}`}"`;
  });
  return { text: rewritten, imports };
}

const moduleNames = /(\bfrom |\bimport |\bimport\()["']([^"']+)["']/g;
