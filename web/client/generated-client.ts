import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";

/** Writes the typed client of openapi.json into a folder, in place of what is there. */
export async function generateClient(folder: string): Promise<void> {
  await createClient({
    input: readDescription(),
    output: {
      path: folder,
      module: { extension: ".ts" },
      // The generated code is not written for our strict options.
      header: ({ defaultValue }) => [...defaultValue, "// @ts-nocheck"],
    },
    parser: { filters: { operations: { exclude: forWriters } } },
    plugins: [
      "@hey-api/typescript",
      "@hey-api/sdk",
      { name: "@hey-api/client-fetch", baseUrl: false }, // the document's server is "/": of its own host
    ],
    logs: { level: "silent" },
  });
  await markPure(folder);
}

/** Bundlers leave out what nobody uses of a module only when they know that a call at its top does nothing else. */
async function markPure(folder: string): Promise<void> {
  for await (const path of new Bun.Glob("**/*.ts").scan({ cwd: folder, absolute: true })) {
    const text = await Bun.file(path).text();
    const marked = text.replace(/^(?:export )?const .+ = create.+$/gm, (line) =>
      line.replace(/\b(create\w+[<(])/g, "/* @__PURE__ */ $1"),
    );
    if (marked !== text) await Bun.write(path, marked);
  }
}

const forWriters = ["GET /api/views/minutes", "GET /api/views/shards"];

function readDescription(): Record<string, unknown> {
  const text = readFileSync(join(import.meta.dir, "../../contract/openapi.json"), "utf8");
  // A list of fixed length has `items: {}` beside maxItems, which the generator takes for one more item.
  return JSON.parse(text, (_, value) => (value?.prefixItems ? { ...value, items: false } : value));
}
