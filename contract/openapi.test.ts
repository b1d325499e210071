import { expect, test } from "bun:test";
import {
  aboutExample,
  explanationExample,
  problemExamples,
  publicKeysExample,
  regionListExample,
  trendingChartPageExample,
  trendingPageExample,
  trendingSnippetPageExample,
  videoExample,
} from "./examples.ts";
import committed from "./openapi.json";
import { createOpenapiDocument, minutesExample, shardsExample, ViewMinutes, ViewShards } from "./openapi.ts";
import { problemContentType, problemKinds, problems, problemType } from "./problem.ts";
import {
  About,
  Explanation,
  ProblemDocument,
  PublicKeys,
  RegionList,
  TrendingChartPage,
  TrendingPage,
  TrendingSnippetPage,
  Video,
} from "./responses.ts";

test("openapi.json is what the schemas say (after a change: bun run openapi in contract)", () => {
  expect(JSON.parse(JSON.stringify(createOpenapiDocument()))).toEqual(committed);
});

test("the examples are what the schemas allow", () => {
  TrendingPage.parse(trendingPageExample);
  TrendingChartPage.parse(trendingChartPageExample);
  TrendingSnippetPage.parse(trendingSnippetPageExample);
  Video.parse(videoExample);
  Explanation.parse(explanationExample);
  About.parse(aboutExample);
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
