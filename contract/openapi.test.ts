import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import committed from "./openapi.json";
import { createOpenapiDocument } from "./openapi-document.ts";

test("openapi.json is what the schemas say (after a change: bun run openapi in contract)", () => {
  expect(JSON.parse(JSON.stringify(createOpenapiDocument()))).toEqual(committed);
});

const program = `
import createClient from "openapi-fetch";
import type { paths } from "./api.ts";

const client = createClient<paths>({ baseUrl: "http://origin.test" });

export async function firstTitle(): Promise<string | undefined> {
  const { data } = await client.GET("/api/trending", { params: { query: { region: "DE", limit: 5 } } });
  return data?.items[0]?.title;
}

export async function nonsense(): Promise<void> {
  // @ts-expect-error: there is no such region
  await client.GET("/api/trending", { params: { query: { region: "XX" } } });
  // @ts-expect-error: there is no such path
  await client.GET("/api/nothing");
  const { data } = await client.GET("/api/videos/{id}", { params: { path: { id: "x" } } });
  const place = data?.trending[0];
  // @ts-expect-error: a rank is a number
  const rank: string | undefined = place?.rank;
  void rank;
}
`;

test("a typed client is generated from it and compiles", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trendvault-client-"));
  try {
    await Bun.write(join(folder, "api.ts"), astToString(await openapiTS(committed as never)));
    await Bun.write(join(folder, "program.ts"), program);
    await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
    const tsc = Bun.spawn(["bun", "run", "tsc", "--project", folder], { stdout: "pipe", stderr: "pipe" });
    const output = await tsc.stdout.text();
    expect({ code: await tsc.exited, output }).toEqual({ code: 0, output: "" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 30_000);

const tsconfig = {
  extends: join(import.meta.dir, "../tsconfig.base.json"),
  compilerOptions: {
    lib: ["ESNext", "DOM"],
    paths: { "openapi-fetch": [join(Bun.fileURLToPath(import.meta.resolve("openapi-fetch")), "../..")] },
  },
  include: ["."],
};
