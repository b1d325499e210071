import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import openapi from "../../contract/openapi.json" with { type: "json" };
import { writeNotices } from "../../tools/release/notices.ts";
import { localeParts } from "./locale-parts.ts";

/** `bun build.ts [FOLDER]` writes dist/: the package's modules, the file of the script tag with its parts, the types. */

const root = join(import.meta.dir, "../..");
const contractPackage = "@trendvault/contract/";
const moduleNames = /(\bfrom |\bimport |\bimport\()["']([^"']+)["']/g;
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
writeNotices(dist, [metafile]);
await writeTypes(entries, join(dist, "types"));

/**
 * Writes the declarations of entries of src/, and of what they name, into a folder. Those of contract/ come with them:
 * it is not published. The types of responses are inferred from schemas there; here they are written out, with what
 * openapi.json says of each member.
 */
async function writeTypes(entries: readonly string[], folder: string): Promise<void> {
  const emitted = mkdtempSync(join(tmpdir(), "trendvault-types-"));
  try {
    await emit(entries, emitted);
    writeFileSync(join(emitted, "contract/responses.d.ts"), responseTypes());
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
  const extended = join(root, "web/tsconfig.json");
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions, files, include: [] }));
  const { exitCode, stdout } = await Bun.$`bun run tsc --project ${config}`.cwd(root).quiet().nothrow();
  if (exitCode !== 0) throw new Error(`Cannot write the types:\n${stdout}`);
}

type Schema = {
  $ref?: string;
  description?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  items?: Schema;
  prefixItems?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
};

/** What contract/responses.ts exports as types. */
function responseTypes(): string {
  type Parameter = { in: string; name: string; schema: Schema };
  const shared = new Map<string, Parameter>(Object.entries(openapi.components.parameters));
  const described: (Parameter | { $ref: string })[] = openapi.paths["/api/trending"].get.parameters;
  const parameters: Schema = {
    type: "object",
    properties: Object.fromEntries(
      described.flatMap((one) => {
        const known = "$ref" in one ? shared.get(one.$ref.slice("#/components/parameters/".length)) : one;
        return known?.in === "query" ? [[known.name, known.schema] as const] : [];
      }),
    ),
  };
  const types: [string, Schema][] = [
    ...Object.entries(openapi.components.schemas),
    ["TrendingParameters", parameters],
  ];
  return types
    .map(([name, schema]) => `${comment(schema)}export type ${name} = ${typeOf(schema)};\n`)
    .join("\n");
}

function comment({ description }: Schema): string {
  return description === undefined ? "" : `/** ${description} */\n`;
}

/** The TypeScript of a schema, in the forms that zod writes (JSON Schema 2020-12). */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.slice("#/components/schemas/".length);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" | ");
  if (schema.prefixItems !== undefined) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(" | ");
  if (schema.type === "array") return `Array<${typeOf(schema.items ?? {})}>`;
  if (schema.type === "integer") return "number";
  if (schema.type !== "object") return String(schema.type ?? "unknown");
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, member]) =>
      `${comment(member)}${JSON.stringify(name)}${schema.required?.includes(name) ? "" : "?"}: ${typeOf(member)};`,
  );
  return `{\n${members.join("\n")}\n}`;
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
