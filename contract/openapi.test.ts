import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder, root } from "@trendvault/kit/machine";
import { drawsOf, Random } from "@trendvault/kit/random";
import { examples } from "./examples.ts";
import current from "./openapi.json";
import { createOpenapiDocument, viewSchemas } from "./openapi.ts";
import { paths } from "./paths.ts";
import { problemContentType, problemKinds, problems, problemType, renderProblemPage } from "./problem.ts";
import released from "./released/openapi.json";
import { schemas } from "./responses.ts";

/** What of `revision` breaks a client of `base`, a sentence each. Both are OpenAPI documents. */
async function breakingChanges(base: object, revision: object): Promise<string[]> {
  const folder = newFolder("openapi");
  try {
    await Bun.write(join(folder, "base.json"), JSON.stringify(base));
    await Bun.write(join(folder, "revision.json"), JSON.stringify(revision));
    return (await compare(folder)).flatMap(describeChange);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// docs/http-api.md lets answers have new values, but takes none away.
const options = ["--format=json", "--fail-on=none", "--skip-rule=enum-values-added"];

async function compare(cwd: string): Promise<ReportedChange[]> {
  const command = ["node", join(root, "node_modules/.bin/redocly"), "diff", "base.json", "revision.json"];
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const redocly = Bun.spawn([...command, ...options], { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [report, log] = [await redocly.stdout.text(), await redocly.stderr.text()];
  if ((await redocly.exited) !== 0) throw new Error(`redocly cannot compare the documents: ${log}`);
  return (JSON.parse(report) as { changes: ReportedChange[] }).changes;
}

/** A change in Redocly's report; `path` is a JSON pointer into the documents with their references resolved. */
type ReportedChange = {
  path: string;
  impact: "patch" | "minor" | "major";
  verdicts?: { impact: string; message: string }[];
  property?: string;
  base?: { value?: unknown };
  revision?: { value?: unknown };
};

function describeChange({ path, impact, verdicts = [], property, base, revision }: ReportedChange): string[] {
  const place = decodeURIComponent(path);
  const verdict = verdicts
    .filter((one) => one.impact === "major")
    .map(({ message }) => `${place}: ${message}`);
  if (impact === "major") return verdict.length === 0 ? [place] : verdict;
  const lost = property === "enum" ? missingOf(base?.value, revision?.value) : [];
  return lost.length === 0 ? [] : [`${place}: the values ${lost.join(", ")} were removed.`];
}

function missingOf(before: unknown, after: unknown): unknown[] {
  if (!Array.isArray(before)) return [];
  return before.filter((value) => !(Array.isArray(after) && after.includes(value)));
}

test("openapi.json is what the schemas say (after a change: bun run openapi in contract)", () => {
  expect(JSON.parse(JSON.stringify(createOpenapiDocument()))).toEqual(current);
});

test("the examples are what the schemas allow", () => {
  schemas.TrendingPage.parse(examples.trendingPage);
  schemas.TrendingChartPage.parse(examples.trendingChartPage);
  schemas.TrendingSnippetPage.parse(examples.trendingSnippetPage);
  schemas.Video.parse(examples.video);
  schemas.Explanation.parse(examples.explanation);
  schemas.About.parse(examples.about);
  schemas.RegionList.parse(examples.regionList);
  schemas.PublicKeys.parse(examples.publicKeys);
  const answerAt = (path: typeof paths.viewMinutes | typeof paths.viewShards) =>
    current.paths[path].get.responses[200].content["application/json"].example;
  viewSchemas.ViewMinutes.parse(answerAt(paths.viewMinutes));
  viewSchemas.ViewShards.parse(answerAt(paths.viewShards));
  for (const kind of problemKinds) {
    schemas.ProblemDocument.parse(examples.problems[kind]);
    expect(examples.problems[kind].type).toBe(problemType(kind));
  }
});

test("every problem type of a status has an example", () => {
  const statuses = new Set(
    problemKinds.map((kind) => problems[kind].status).filter((status) => status !== 405 && status !== 501), // of methods and of oEmbed, which it does not describe
  );
  const { NotModified: _, ...failures } = current.components.responses;
  const examples = Object.entries(failures).map(([name, { content }]) => [
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

test.each(problemKinds)("the type of %s is the address of a page with its title and status", (kind) => {
  const page = renderProblemPage(kind);
  expect(page).toContain(`<h1>${problems[kind].title}</h1>`);
  expect(page).toContain(`HTTP status ${problems[kind].status}, type <code>/problems/${kind}</code>`);
  expect(page).not.toContain("`");
});

test("every answer that has content has an example of it", () => {
  for (const [path, operations] of Object.entries(current.paths)) {
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
  const name = response.$ref?.split("/").at(-1) as keyof typeof current.components.responses | undefined;
  return [status, name === undefined ? response : (current.components.responses[name] as Described)];
}

test("answers may get further fields, messages may not", () => {
  const text = JSON.stringify(current.components.schemas);
  expect(text).not.toContain('"additionalProperties":false');
  expect(current.components.schemas.Video.properties.titles.additionalProperties).toEqual({ type: "string" });
  const { content } = current.paths["/api/views"].post.requestBody;
  expect(content["application/json"].schema.additionalProperties).toBe(false);
});

const compareSeconds = 1200; // only a fault takes so long, on a busy machine

test("who placed a video is described of lists, exports and feeds alike", () => {
  const { TrendingItem, ExportItem, JsonFeed } = current.components.schemas;
  const inFeeds = JsonFeed.properties.items.items.properties._trendvault;
  const names = ["placed_by", "sponsor", "model_rank"];
  for (const { properties } of [TrendingItem, ExportItem, inFeeds]) {
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(names));
  }
});

test(
  "openapi.json breaks no client of the last release (docs/http-api.md)",
  async () => {
    expect(await breakingChanges(released, current)).toEqual([]);
  },
  compareSeconds * 1000,
);

type Schema = { properties?: Record<string, unknown>; required?: string[] };
/** Those that several operations share have only a reference. */
type Parameter = {
  in?: string;
  name?: string;
  required?: boolean;
  schema?: { enum?: string[] };
  $ref?: string;
};
type Operation = { parameters?: Parameter[]; responses: Record<string, { content?: object }> };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema & { enum?: string[] }> };
};

/** Changes a document in a place that is drawn, and says which. */
type Change = (document: Document, random: Random) => string;

const breaking: Record<string, Change> = {
  "a field that was removed": (document, random) => {
    const [name, schema] = random.pick(answerSchemas(document));
    const [field] = random.pick(Object.entries(schema.properties ?? {}));
    delete schema.properties?.[field];
    schema.required = (schema.required ?? []).filter((other) => other !== field);
    return `${name}.${field}`;
  },
  "a field that is no longer in every answer": (document, random) => {
    const [name, schema] = random.pick(answerSchemas(document));
    const field = random.pick(schema.required ?? []);
    schema.required = (schema.required ?? []).filter((other) => other !== field);
    return `${name}.${field}`;
  },
  "a field of another type": (document, random) => {
    const [name, schema] = random.pick(answerSchemas(document));
    const field = random.pick(schema.required ?? []);
    const properties = schema.properties as Record<string, { type?: string }>;
    properties[field] = { type: properties[field]?.type === "boolean" ? "string" : "boolean" };
    return `${name}.${field}`;
  },
  "a new required parameter": (document, random) => {
    const [name, operation] = random.pick(operations(document));
    operation.parameters ??= [];
    operation.parameters.push({ in: "query", name: "new", required: true, schema: {} });
    return name;
  },
  "a parameter that was removed": (document, random) => {
    const [name, { parameters }] = random.pick(operationsWithParameters(document));
    const [parameter] = parameters?.splice(random.below(parameters.length), 1) ?? [];
    return `${name} ${parameter?.name ?? parameter?.$ref}`;
  },
  "a parameter with fewer values": (document, random) => {
    const parameters = operations(document).flatMap(([, operation]) => operation.parameters ?? []);
    const parameter = random.pick(parameters.filter(({ schema }) => schema?.enum !== undefined));
    return `${parameter.name} ${removeOne(parameter.schema?.enum, random)}`;
  },
  "an answer with fewer values": (document, random) => {
    const [name, schema] = random.pick(
      Object.entries(document.components.schemas).filter(([, { enum: values }]) => values !== undefined),
    );
    return `${name} ${removeOne(schema.enum, random)}`;
  },
  "an operation that was removed": (document, random) => {
    const [path] = random.pick(Object.entries(document.paths));
    delete document.paths[path];
    return path;
  },
  "a status that is no longer described": (document, random) => {
    const [name, { responses }] = random.pick(operations(document));
    const [status] = random.pick(Object.entries(responses));
    delete responses[status];
    return `${name} ${status}`;
  },
};

const compatible: Record<string, Change> = {
  "a new field": (document, random) => {
    const [name, schema] = random.pick(answerSchemas(document));
    Object.assign(schema.properties ?? {}, { new: { type: "string" } });
    schema.required?.push("new");
    return name;
  },
  "a new optional parameter": (document, random) => {
    const [name, operation] = random.pick(operations(document));
    operation.parameters ??= [];
    operation.parameters.push({ in: "query", name: "new", schema: {} });
    return name;
  },
  "a new value": (document, random) => {
    const [name, schema] = random.pick(
      Object.entries(document.components.schemas).filter(([, { enum: values }]) => values !== undefined),
    );
    schema.enum?.push("new");
    return name;
  },
  "a new path": (document, random) => {
    const [path, operation] = random.pick(Object.entries(document.paths));
    const [[method, { parameters: _, ...rest }] = ["get", { responses: {} }]] = Object.entries(operation);
    document.paths["/new"] = { [method]: { ...rest, operationId: "new" } as Operation };
    return path;
  },
  "what is deprecated": (document, random) => {
    const [name, operation] = random.pick(operations(document));
    Object.assign(operation, { deprecated: true });
    return name;
  },
};

const random = new Random();
const draws = drawsOf({ usual: 1, long: 12 });

describe(`the comparison with the last release, seed ${random.seed}`, () => {
  for (const [kind, change] of Object.entries(breaking)) {
    test(
      `refuses ${kind}`,
      async () => {
        for (let draw = 0; draw < draws; draw++) {
          const [place, found] = await compareAfter(change);
          expect([place, found.length > 0]).toEqual([place, true]);
        }
      },
      draws * compareSeconds * 1000,
    );
  }

  for (const [kind, change] of Object.entries(compatible)) {
    test(
      `allows ${kind}`,
      async () => {
        for (let draw = 0; draw < draws; draw++) {
          const [place, found] = await compareAfter(change);
          expect([place, found]).toEqual([place, []]);
        }
      },
      draws * compareSeconds * 1000,
    );
  }
});

async function compareAfter(change: Change): Promise<[string, string[]]> {
  const changed = structuredClone(current) as unknown as Document;
  const place = change(changed, random);
  return [place, await breakingChanges(current, changed)];
}

function answerSchemas(document: Document): [string, Schema][] {
  return Object.entries(document.components.schemas).filter(([, { required = [] }]) => required.length > 0);
}

function operations(document: Document): [string, Operation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation,
    ]),
  );
}

function operationsWithParameters(document: Document): [string, Operation][] {
  return operations(document).filter(([, { parameters = [] }]) => parameters.length > 0);
}

function removeOne(values: string[] | undefined, random: Random): string | undefined {
  return values?.splice(random.below(values.length), 1)[0];
}
