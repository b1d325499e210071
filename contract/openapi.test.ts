import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import {
  problemExamples,
  publicKeysExample,
  regionListExample,
  trendingPageExample,
  videoExample,
} from "./examples.ts";
import committed from "./openapi.json";
import { createOpenapiDocument } from "./openapi-document.ts";
import { problemContentType, problemKinds, problems, problemType } from "./problem.ts";
import { ProblemDocument, PublicKeys, RegionList, TrendingPage, Video } from "./responses.ts";

test("openapi.json is what the schemas say (after a change: bun run openapi in contract)", () => {
  expect(JSON.parse(JSON.stringify(createOpenapiDocument()))).toEqual(committed);
});

test("the examples are what the schemas allow", () => {
  TrendingPage.parse(trendingPageExample);
  Video.parse(videoExample);
  RegionList.parse(regionListExample);
  PublicKeys.parse(publicKeysExample);
  for (const kind of problemKinds) {
    ProblemDocument.parse(problemExamples[kind]);
    expect(problemExamples[kind].type).toBe(problemType(kind));
  }
});

test("every problem type of a status has an example", () => {
  const statuses = new Set(
    problemKinds.map((kind) => problems[kind].status).filter((status) => status !== 405),
  );
  const examples = Object.entries(committed.components.responses).map(([name, { content }]) => [
    Number(name.slice("Problem".length)),
    Object.keys(content[problemContentType].examples),
  ]);
  expect(new Map(examples as [number, string[]][])).toEqual(
    new Map(
      [...statuses].map((status) => [
        status,
        problemKinds.filter((kind) => problems[kind].status === status),
      ]),
    ),
  );
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
