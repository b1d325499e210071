import * as z from "zod";
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { examples } from "./examples.ts";
import { listLengths, windows } from "./lists.ts";
import { feedTypes } from "./page.ts";
import { paths, videoIdPattern } from "./paths.ts";
import {
  type ProblemKind,
  problemContentType,
  problemKinds,
  problems,
  problemType,
  renderProblemPage,
} from "./problem.ts";
import { describeQueries, exportType } from "./queries.ts";
import { regionCodes } from "./regions.ts";
import { schemas } from "./responses.ts";
import { coveredComponents } from "./signature-base.ts";
import { longestToken } from "./token.ts";
import { type ViewMessage as Message, shardPattern, viewLimits } from "./views.ts";

const strongTag = z.string().meta({
  description: "A strong entity tag; each content coding has its own (RFC 9110)",
  header: { id: "ETag" },
});

const retryAfter = z.string().meta({
  description: "Seconds to wait before the next request (RFC 9110)",
  header: { id: "Retry-After" },
});

const failuresByStatus = new Map<number, ZodOpenApiResponseObject>();

/** The fields of every answer that may be cached. */
const cachedFields = {
  ETag: strongTag,
  "Cache-Control": z.string().meta({ header: { id: "Cache-Control" }, description: "For browsers" }),
  "CDN-Cache-Control": z
    .string()
    .optional()
    .meta({
      header: { id: "CDN-Cache-Control" },
      description: "For shared caches (RFC 9213); at the origin only",
    }),
  "TrendVault-Cache-Control": z.string().meta({
    header: { id: "TrendVault-Cache-Control" },
    description: "For our edge, which reads no other lifetimes (RFC 9213). It is signed",
  }),
  "Content-Location": z.string().meta({
    header: { id: "Content-Location" },
    description: "The canonical URL of what is answered (RFC 9110). It is signed",
  }),
  Vary: z.string().meta({
    header: { id: "Vary" },
    description: "The request fields that select the representation: Accept-Encoding",
  }),
  "Unencoded-Digest": z.string().meta({
    header: { id: "Unencoded-Digest" },
    description: "SHA-256 of the body before content coding (draft-ietf-httpbis-unencoded-digest)",
  }),
  "Signature-Input": z.string().meta({
    header: { id: "Signature-Input" },
    description: `RFC 9421, over ${coveredComponents.join(", ")}; the keys are at /.well-known/jwks.json`,
  }),
  Signature: z.string().meta({ header: { id: "Signature" }, description: "RFC 9421, ed25519" }),
};

// Every path but /healthz may also give these.
const commonProblems: ProblemKind[] = [
  "edge-signature",
  "not-acceptable",
  "uri-too-long",
  "too-many-requests",
  "internal",
  "busy",
  "not-ready",
];

/** The request fields of every path whose answer may be cached. */
const conditions = z.object({
  "If-None-Match": z
    .string()
    .optional()
    .meta({
      description: "The ETag of a stored response; 304 if it is still current",
      param: { id: "If-None-Match" },
    }),
});

const notModified: ZodOpenApiResponseObject = {
  id: "NotModified",
  description: "The stored answer with this ETag is current",
  headers: z.object({ ETag: strongTag }),
};

/** An example, or one of each shape by its name. */
type Example = { example: unknown } | { examples: Record<string, { summary: string; value: unknown }> };

type Success = Example & { contentType?: string; headers?: z.ZodObject };

/** The responses of a path that may be cached: the answer, and 304. */
function success(
  description: string,
  schema: z.ZodType,
  { contentType = "application/json", headers = z.object(cachedFields), ...examples }: Success,
): Record<string, ZodOpenApiResponseObject> {
  return {
    "200": {
      description,
      headers,
      content: { [contentType]: { schema, ...examples } },
    },
    "304": notModified,
  };
}

/** The responses of these problem types, and of those that every path but /healthz may give. */
function failures(...kinds: ProblemKind[]): Record<string, ZodOpenApiResponseObject> {
  return failuresAlone(...kinds, ...commonProblems);
}

/** The responses of these problem types and of no other. */
function failuresAlone(...kinds: ProblemKind[]): Record<string, ZodOpenApiResponseObject> {
  const statuses = kinds.map((kind) => problems[kind].status);
  return Object.fromEntries(statuses.map((status) => [status, failureOf(status)]));
}

/** The response with a status: one component for all paths, with an example for every problem type that has it. */
function failureOf(status: number): ZodOpenApiResponseObject {
  const known = failuresByStatus.get(status);
  if (known !== undefined) return known;
  const kinds = problemKinds.filter((kind) => problems[kind].status === status);
  const answers = kinds.map((kind) => [
    kind,
    { summary: problems[kind].title, value: examples.problems[kind] },
  ]);
  const failure = {
    id: `Problem${status}`,
    description: kinds.map((kind) => `\`${problemType(kind)}\`: ${problems[kind].title}`).join("; "),
    ...(kinds.some(isTemporary) && { headers: z.object({ "Retry-After": retryAfter }) }),
    content: {
      [problemContentType]: { schema: schemas.ProblemDocument, examples: Object.fromEntries(answers) },
    },
  };
  failuresByStatus.set(status, failure);
  return failure;
}

function isTemporary(kind: ProblemKind): boolean {
  return problems[kind].status === 429 || problems[kind].status === 503;
}

/** What readViewMessage reads, for the OpenAPI document: the edge does not bundle it. */
const ViewMessage = z.strictObject({
  token: z.string().max(longestToken),
  seen: z.int().min(0).max(listLengths.longest.all),
  opened: z
    .array(z.int().min(1).max(listLengths.longest.all))
    .max(listLengths.largestPage)
    .refine((ranks) => new Set(ranks).size === ranks.length),
}) satisfies z.ZodType<Message>;

/** What the edge answers when a writer pulls what visitors' browsers have told: counts per minute, and nothing else. */

const shard = z
  .string()
  .regex(shardPattern)
  .meta({ examples: ["GB-0"] });
const minute = z
  .int()
  .min(0)
  .meta({ description: "Unix time divided by 60, rounded down: the edge's clock" });
const list = {
  minute,
  window: z.enum(windows),
  category: z.string().meta({ description: "As tokens name it: empty in the list over all categories" }),
};
const count = z.int().min(0);

/** The ranks of one list in one minute, as far as anything was counted. */
const CountedRanks = z.strictObject({
  ...list,
  generation: z.int().min(1),
  ranks: z.array(
    z
      .tuple([z.int().min(1), z.string().regex(videoIdPattern), count, count])
      .meta({ description: "Rank, video id, impressions and clicks: increments of this minute" }),
  ),
});

/** How often the pages of a list were served in one minute, new or as 304. */
const ServedPages = z.strictObject({
  ...list,
  pages: z.array(
    z.tuple([count, z.int().min(1).max(listLengths.largestPage), count]).meta({
      description:
        "The page has the ranks after the first number, as many as the second, and was served so often",
    }),
  ),
});

/**
 * The closed minutes after `after`, whole, in order. `until` is the `after` of the next pull; there is more at once when
 * it is below `last_closed`.
 */
const ViewMinutes = z
  .strictObject({
    shard,
    after: minute.nullable(),
    until: minute.meta({ description: "The answer is complete up to this minute; never below `after`" }),
    last_closed: minute.meta({ description: "No count of this minute or of one before changes any more" }),
    lost_until: minute.nullable().meta({
      description:
        "Counts of minutes after `after`, up to this one, were deleted before this pull; else null",
    }),
    looks: z.array(CountedRanks).meta({ description: "Impressions and clicks" }),
    served: z.array(ServedPages),
  })
  .meta({ id: "ViewMinutes" });
type ViewMinutes = z.infer<typeof ViewMinutes>;

const ViewShards = z
  .strictObject({
    shards: z.array(shard).meta({ description: "Where counts are added now" }),
    kept_hours: z.int().min(1),
  })
  .meta({ id: "ViewShards" });

/** What browsers tell the edge, and what the writer pulls of it. */
export const viewSchemas = { ViewMessage, ViewMinutes, ViewShards };

const queries = describeQueries();

const anyPage = z.union([schemas.TrendingPage, schemas.TrendingChartPage, schemas.TrendingSnippetPage]);
const pageExamples = {
  default: { summary: "Without `fields`", value: examples.trendingPage },
  chart: { summary: "fields=chart", value: examples.trendingChartPage },
  snippet: { summary: "fields=snippet", value: examples.trendingSnippetPage },
};

const videoIdInPath = z
  .string()
  .regex(videoIdPattern)
  .meta({ examples: [examples.videoId] });

/** The paths of what trends: lists, videos, regions. */
const listPaths: ZodOpenApiPathsObject = {
  "/api/trending": {
    get: {
      operationId: "listTrending",
      summary: "One page of the videos that trend in a region",
      description:
        "Ranks by the views expected in the window ahead. All pages that `next` links belong to one generation, even after a newer one is published.",
      requestParams: { query: queries.trending, header: conditions },
      responses: {
        ...success("The requested page", anyPage, {
          examples: pageExamples,
          headers: z.object({
            ...cachedFields,
            Link: z.string().optional().meta({ description: 'The next page: rel="next" (RFC 8288)' }),
          }),
        }),
        ...failures("invalid-parameter", "not-found", "generation-gone"),
      },
    },
  },
  "/api/videos/{id}": {
    get: {
      operationId: "readVideo",
      summary: "One video, where it trends and how its views grew",
      description: "Its ranks are those of the newest generation, in every list of every region.",
      requestParams: {
        path: z.object({ id: videoIdInPath }),
        header: conditions,
      },
      responses: {
        ...success("The requested video", schemas.Video, { example: examples.video }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/api/videos/{id}/explain": {
    get: {
      operationId: "explainRank",
      summary: "Why a video is where it is in a list over all categories",
      description:
        "What the newest generation's list was made from, as facts and as sentences. A video that is known in the region and not in the list is answered with what is known.",
      requestParams: {
        path: z.object({ id: videoIdInPath }),
        query: queries.explain,
        header: conditions,
      },
      responses: {
        ...success("Why it is there", schemas.Explanation, { example: examples.explanation }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/api/about": {
    get: {
      operationId: "readMaking",
      summary: "How the lists are made",
      description: "The parameters that were in force when the newest generation was published.",
      requestParams: { header: conditions },
      responses: {
        ...success("What is in force", schemas.About, { example: examples.about }),
        ...failures("invalid-parameter"),
      },
    },
  },
  "/api/regions": {
    get: {
      operationId: "listRegions",
      summary: "The regions, how many videos each has and how fresh they are",
      description:
        "Also which categories, languages and other kinds have a list, and which generations a cursor may belong to.",
      requestParams: { header: conditions },
      responses: {
        ...success("All regions and categories", schemas.RegionList, { example: examples.regionList }),
        ...failures("invalid-parameter"),
      },
    },
  },
};

const described = queries.trending.def.shape;
const { window, category, audience, live, duration } = described;
for (const [id, schema] of Object.entries({ window, category, audience, live, duration })) {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), param: { id } }); // described once, for all paths
}
const requestParams = {
  path: z.object({ region: z.enum(regionCodes).meta({ examples: ["GB"] }) }),
  query: z.object({ window, category, audience, live, duration }),
  header: conditions,
};

const JsonFeed = z
  .object({
    version: z.literal("https://jsonfeed.org/version/1.1"),
    title: z.string(),
    language: z.string().meta({ description: "BCP 47" }),
    _trendvault: schemas.TrendingPage.pick({
      region: true,
      window: true,
      category: true,
      audience: true,
      live: true,
      duration: true,
      generation: true,
      generated_at: true,
      score_unit: true,
    }).extend({
      category: z.string().nullable().meta({ description: "Null in the list over all categories" }),
    }),
    items: z.array(
      z.object({
        id: z.string().meta({ description: "A urn:uuid of the video's id, which stays the same" }),
        url: z.url().optional(),
        title: z.string(),
        content_text: z.string(),
        image: z.url(),
        date_published: z.iso.datetime().optional(),
        authors: z.array(z.object({ name: z.string() })),
        tags: z.array(z.string()).optional(),
        _trendvault: schemas.TrendingItem.pick({
          rank: true,
          previous_rank: true,
          score: true,
          expected_views: true,
          duration_seconds: true,
          live: true,
          placed_by: true,
          sponsor: true,
          model_rank: true,
        }).extend({ video: z.string() }),
      }),
    ),
  })
  .meta({ id: "JsonFeed", description: "JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/)" });

/** The paths of feeds: the first 50 ranks of a list, for feed readers. */
const feedPaths: ZodOpenApiPathsObject = {
  "/feeds/{region}.json": {
    get: {
      operationId: "readJsonFeed",
      summary: "The first 50 ranks of a list as JSON Feed",
      description: "Entries link to the videos where their addresses are known. Titles are text.",
      requestParams,
      responses: {
        ...success("The feed", JsonFeed, { contentType: feedTypes.json, example: examples.jsonFeed }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/feeds/{region}.atom": {
    get: {
      operationId: "readAtomFeed",
      summary: "The first 50 ranks of a list as Atom",
      description:
        "RFC 4287. Entries link to the videos where their addresses are known. Titles are text. What `_trendvault` has in the JSON Feed is in elements of the namespace https://github.com/trendvault/trendvault: `score_unit` of the list, `score`, `expected_views`, `duration_seconds`, `live`, `placed_by`, `sponsor` (with the attribute `paid_by`) and `model_rank` of an entry.",
      requestParams,
      responses: {
        ...success("The feed", z.string(), { contentType: feedTypes.atom, example: examples.atomFeed }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
};

const line = {
  oneOf: ["ExportHead", "ExportItem"].map((name) => ({ $ref: `#/components/schemas/${name}` })),
};
const Lines = z.string().meta({
  description: "A JSON object a line: an `ExportHead`, then an `ExportItem` for each rank",
  contentMediaType: exportType,
  contentSchema: line, // of each: no keyword of JSON Schema says "a line"
});

/** The path of exports: whole rankings, for other programs. */
const exportPaths: ZodOpenApiPathsObject = {
  "/api/export/{region}.ndjson": {
    get: {
      operationId: "exportRanking",
      summary: "The whole ranking of a region, a JSON object a line",
      description:
        "Every rank of the newest generation's lists over all categories, of all windows or of one. The first line is an `ExportHead`, which says how many follow; each of those is an `ExportItem`, as in /api/trending and with its window.",
      requestParams: {
        path: z.object({ region: z.enum(regionCodes).meta({ examples: ["GB"] }) }),
        query: z.object({
          window: schemas.ExportItem.shape.window
            .optional()
            .meta({ description: "Only this list; without it, all three" }),
        }),
        header: conditions,
      },
      responses: {
        ...success("The ranking", Lines, { contentType: exportType, example: examples.export }),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
};

const edgeOnly = "Answered by the edge only, where counting is switched on; elsewhere 404.";
const messageExample = { token: examples.trendingPage.token, seen: 12, opened: [3, 7] };

const pullFields = z.object({
  "Signature-Input": z.string().meta({ description: "RFC 9421, label pull, hmac-sha256" }),
  Signature: z
    .string()
    .meta({ description: "RFC 9421, over method, path and query, with a key of VIEWS_KEYS" }),
});

const minutesExample: ViewMinutes = {
  shard: "DE-0",
  after: 29_921_040,
  until: 29_921_042,
  last_closed: 29_921_042,
  lost_until: null,
  looks: [
    {
      minute: 29_921_041,
      window: "day",
      category: "",
      generation: 4711,
      ranks: [[1, examples.videoId, 120, 5]],
    },
  ],
  served: [{ minute: 29_921_041, window: "day", category: "", pages: [[0, 24, 130]] }],
};

const shardsExample = { shards: ["DE-0"], kept_hours: 48 };

const pullFailures = failuresAlone(
  "invalid-parameter",
  "pull-signature",
  "not-found",
  "not-counted",
  "internal",
);

/** The paths about what visitors' browsers tell. */
const viewPaths: ZodOpenApiPathsObject = {
  [paths.views]: {
    post: {
      operationId: "countViews",
      summary: "Tells which ranks of a list were seen and opened",
      description: `${edgeOnly} One message for each list shown; it is added to counters and then forgotten. Ranks are the list's.`,
      requestBody: {
        content: {
          "text/plain": { schema: ViewMessage, example: messageExample },
          "application/json": { schema: ViewMessage, example: messageExample },
        },
      },
      responses: {
        "204": { description: "Counted" },
        ...failuresAlone(
          "invalid-message",
          "token-refused",
          "not-found",
          "content-too-large",
          "unsupported-media-type",
          "uri-too-long",
          "too-many-requests",
          "internal",
          "not-counted",
        ),
      },
    },
  },
  [paths.viewMinutes]: {
    get: {
      operationId: "pullViewMinutes",
      summary: "The counts of the closed minutes of a shard, for a writer",
      description: `${edgeOnly} It changes no count, so that it may be repeated.`,
      requestParams: {
        header: pullFields,
        query: z.object({
          shard: z.string().regex(shardPattern),
          after: z.int().min(0).optional().meta({ description: "`until` of the pull before" }),
          limit: z
            .int()
            .min(1)
            .max(viewLimits.pullRows.most)
            .default(viewLimits.pullRows.default)
            .meta({ description: "Rows at most; the first minute is given whole, however many it has" }),
        }),
      },
      responses: { ...answer("The counts", ViewMinutes, minutesExample), ...pullFailures },
    },
  },
  [paths.viewShards]: {
    get: {
      operationId: "listViewShards",
      summary: "The shards that counts are added to, for a writer",
      description: edgeOnly,
      requestParams: { header: pullFields },
      responses: { ...answer("The shards", ViewShards, shardsExample), ...pullFailures },
    },
  },
};

function answer(description: string, schema: z.ZodType, example: unknown) {
  return { "200": { description, content: { "application/json": { schema, example } } } };
}

/** The paths about the service itself: its description, keys, problem pages, health. */
const servicePaths: ZodOpenApiPathsObject = {
  "/openapi.json": {
    get: {
      operationId: "readDescription",
      summary: "This document",
      description: "The OpenAPI description of the API, the same for every request.",
      requestParams: { header: conditions },
      responses: {
        ...success("The description of the API", z.looseObject({ openapi: z.string() }), {
          example: { openapi: "3.1.0" },
        }),
        ...failures("invalid-parameter"),
      },
    },
  },
  "/.well-known/jwks.json": {
    get: {
      operationId: "listPublicKeys",
      summary: "The public keys that verify Signature",
      description: "Keys that signed what caches may still have stay in it. `purpose` says what a key signs.",
      requestParams: { header: conditions },
      responses: {
        ...success("The keys, the one that signs now first", schemas.PublicKeys, {
          contentType: "application/jwk-set+json",
          example: examples.publicKeys,
        }),
        ...failures("invalid-parameter"),
      },
    },
  },
  "/problems/{kind}": {
    get: {
      operationId: "explainProblem",
      summary: "What a problem type means and what to do about it",
      description: "The `type` of a problem document is the address of its page.",
      requestParams: {
        path: z.object({ kind: z.enum(problemKinds).meta({ examples: ["not-found"] }) }),
        header: conditions,
      },
      responses: {
        ...success(
          "The page of the problem type; the edge gives it without validators and signature",
          z.string(),
          {
            headers: z.object(cachedFields).partial(),
            contentType: "text/html",
            example: renderProblemPage("not-found"),
          },
        ),
        ...failures("invalid-parameter", "not-found"),
      },
    },
  },
  "/healthz": {
    get: {
      operationId: "checkHealth",
      summary: "Whether to send requests to this process",
      description: "For load balancers in front of an origin. The edge has no such path.",
      responses: {
        "200": { description: "Healthy", content: { "text/plain": { schema: z.string(), example: "ok\n" } } },
        ...failuresAlone("not-found"),
        "503": {
          description: "The process is stopping",
          content: { "text/plain": { schema: z.string(), example: "stopping\n" } },
        },
      },
    },
  },
};

/** A group of paths in the description. Every operation has the tag of its group. */
type Group = { tag: string; description: string; paths: ZodOpenApiPathsObject };

const groups: Group[] = [
  { tag: "Lists", description: "What trends: lists, videos, regions", paths: listPaths },
  { tag: "Exports", description: "Whole rankings, for other programs", paths: exportPaths },
  { tag: "Feeds", description: "Lists for feed readers", paths: feedPaths },
  {
    tag: "Views",
    description: "What visitors' browsers tell, and what the writer pulls of it; answered by the edge only",
    paths: viewPaths,
  },
  {
    tag: "Service",
    description: "The service itself: its description, keys, errors, health",
    paths: servicePaths,
  },
];

/**
 * The OpenAPI 3.1 description of the API, made from the schemas. openapi.json is its text. Answers may get further
 * fields (docs/http-api.md); `closed` allows none, for tests that look for fields that are not described.
 */
export function createOpenapiDocument({ closed = false } = {}) {
  return createDocument(
    {
      openapi: "3.1.0",
      info: {
        title: "TrendVault",
        version: "1",
        description:
          "The videos that trend in each region. Every client gets the same response; it is signed and may be cached.",
        contact: { name: "The operator of the host that serves this document" },
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/", description: "The host that serves this document" }],
      security: [],
      tags: groups.map(({ tag, description }) => ({ name: tag, description })),
      paths: Object.assign({}, ...groups.map(tagged)),
      components: { schemas: { ExportHead: schemas.ExportHead, ExportItem: schemas.ExportItem } }, // of lines, which no media type of OpenAPI 3.1 has
    },
    { override: (context) => adjust(context, closed) },
  );
}

function tagged({ tag, paths }: Group): ZodOpenApiPathsObject {
  const tagOperation = (operation: object) => ({ tags: [tag], ...operation });
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [method, tagOperation(operation)]),
      ),
    ]),
  );
}

type Override = NonNullable<CreateDocumentOptions["override"]>;

function adjust({ jsonSchema, io, zodSchema }: Parameters<Override>[0], closed: boolean): void {
  // Messages have no named parts; those of lines of an export are made as if they were messages, too.
  const isOfAnswer = io === "output" || z.core.globalRegistry.get(zodSchema)?.id !== undefined;
  const { additionalProperties: more = {} } = jsonSchema; // a schema where any name may be: titles by language
  if (isOfAnswer && !closed && Object.keys(more).length === 0) delete jsonSchema.additionalProperties;
  delete jsonSchema.propertyNames; // All that they say is that a name is text.
  // What `false` says, maxItems says as well; some tools take it for a missing `items`.
  if (jsonSchema.items === false) jsonSchema.items = {};
}

// Run after a change of the schemas: bun run openapi
if (import.meta.main)
  await Bun.write(`${import.meta.dir}/openapi.json`, `${JSON.stringify(createOpenapiDocument(), null, 2)}\n`);
