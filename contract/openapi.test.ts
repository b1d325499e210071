import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import {
  problemExamples,
  publicKeysExample,
  regionListExample,
  trendingChartPageExample,
  trendingPageExample,
  trendingSnippetPageExample,
  videoExample,
} from "./examples.ts";
import committed from "./openapi.json";
import { createOpenapiDocument } from "./openapi-document.ts";
import { minutesExample, shardsExample } from "./openapi-views.ts";
import { problemContentType, problemKinds, problems, problemType } from "./problem.ts";
import {
  ProblemDocument,
  PublicKeys,
  RegionList,
  TrendingChartPage,
  TrendingPage,
  TrendingSnippetPage,
  Video,
} from "./responses.ts";
import { ViewMinutes, ViewShards } from "./view-minutes.ts";

test("openapi.json is what the schemas say (after a change: bun run openapi in contract)", () => {
  expect(JSON.parse(JSON.stringify(createOpenapiDocument()))).toEqual(committed);
});

test("the examples are what the schemas allow", () => {
  TrendingPage.parse(trendingPageExample);
  TrendingChartPage.parse(trendingChartPageExample);
  TrendingSnippetPage.parse(trendingSnippetPageExample);
  Video.parse(videoExample);
  RegionList.parse(regionListExample);
  PublicKeys.parse(publicKeysExample);
  ViewMinutes.parse(minutesExample);
  ViewShards.parse(shardsExample);
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

test("every answer that has content has an example of it", () => {
  for (const [path, operations] of Object.entries(committed.paths)) {
    for (const { operationId, responses } of Object.values(operations)) {
      for (const [status, response] of Object.entries<Described>(responses).map(resolveResponse)) {
        for (const media of Object.values(response.content ?? {})) {
          expect([path, operationId, status, "example" in media || "examples" in media]).toContain(true);
        }
      }
    }
  }
});

type Described = { $ref?: string; content?: Record<string, object> };

function resolveResponse([status, response]: [string, Described]): [string, Described] {
  const name = response.$ref?.split("/").at(-1) as keyof typeof committed.components.responses | undefined;
  return [status, name === undefined ? response : committed.components.responses[name]];
}

test("answers may get further fields, messages may not", () => {
  const text = JSON.stringify(committed.components.schemas);
  expect(text).not.toContain('"additionalProperties":false');
  const { content } = committed.paths["/api/views"].post.requestBody;
  expect(content["application/json"].schema.additionalProperties).toBe(false);
});

const program = `
import { listTrending, readVideo } from "./client/index.ts";

export async function firstTitle(): Promise<string | undefined> {
  const { data } = await listTrending({ query: { region: "DE", limit: 5 } });
  return data?.items[0]?.title;
}

export async function nonsense(): Promise<void> {
  // @ts-expect-error: no such region
  await listTrending({ query: { region: "XX" } });
  // @ts-expect-error: no such parameter
  await listTrending({ query: { page: 2 } });
  const { data, error } = await readVideo({ path: { id: "x" } });
  const place = data?.trending[0];
  // @ts-expect-error: a rank is a number
  const rank: string | undefined = place?.rank;
  void rank;
  if (error?.type === "/problems/not-found") return;
  // @ts-expect-error: no such problem type
  if (error?.type === "/problems/none") return;
}
`;

const compileSeconds = 120; // a busy machine takes long

test(
  "a typed client is generated from it and compiles",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "trendvault-client-"));
    try {
      await createClient({
        input: join(import.meta.dir, "openapi.json"),
        output: join(folder, "client"),
        plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
        logs: { level: "silent" },
      });
      await Bun.write(join(folder, "program.ts"), program);
      await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
      const tsc = Bun.spawn(["bun", "run", "tsc", "--project", folder], { stdout: "pipe", stderr: "pipe" });
      const output = await tsc.stdout.text();
      expect({ code: await tsc.exited, output }).toEqual({ code: 0, output: "" });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  compileSeconds * 1000,
);

const tsconfig = {
  extends: join(import.meta.dir, "../tsconfig.base.json"),
  // The generated client is not written for the strictest options.
  compilerOptions: { lib: ["ESNext", "DOM"], exactOptionalPropertyTypes: false, noUnusedParameters: false },
  include: ["."],
};
