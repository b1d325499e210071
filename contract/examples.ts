import { refusalDetails } from "./http.ts";
import { listLengths, windowHours, windows } from "./lists.ts";
import { describeProblem, type Problem, type ProblemKind } from "./problem.ts";
import { listRefusals, parseTrendingQuery, type TrendingQuery, trendingUrl } from "./queries.ts";
import type {
  About,
  Explanation,
  ExportHead,
  ExportItem,
  PublicKeys,
  RegionList,
  TrendingChartPage,
  TrendingPage,
  TrendingSnippetPage,
  Video,
} from "./responses.ts";

const exampleVideoId = "demo-video_1";

const thumbs: [string, string] = [
  `https://img.example/${exampleVideoId}/hq.webp`,
  `https://img.example/${exampleVideoId}/sd.webp`,
];

const url = `https://videos.example/watch/${exampleVideoId}`;

const firstPage: TrendingQuery = { region: "DE", window: "day", limit: listLengths.defaultPage };

const trendingPageExample: TrendingPage = {
  region: "DE",
  window: "day",
  category: null,
  generation: 4711,
  generated_at: "2026-11-21T10:00:00Z",
  previous_generated_at: "2026-11-21T09:00:00Z",
  newest_observed_at: "2026-11-21T09:58:00Z",
  channel_limit: { videos: 3, within_ranks: 24 },
  score_unit: "views",
  count: 1,
  total: 200,
  token: [
    "eyJhbGciOiJFZERTQSIsImtpZCI6IldlVkhqSVFUIiwidHlwIjoidHYrand0In0",
    "eyJpYXQiOjE3OTUyNTUyMDAsImV4cCI6MTc5NTI1NjEwMCwic3ViIjoiREUvZGF5Ly80NzExLzArMSJ9",
    "FbXG60A0uWKNyAwDJ055JPfNOz_u1GE-P8Nxfu57eU-7kOYayXVT4OsekDIzU1FZEiIPpTwmA9WuVKoSrKweDQ",
  ].join("."),
  items: [
    {
      id: exampleVideoId,
      rank: 1,
      previous_rank: 4,
      title: "How a lighthouse works",
      channel: "Harbour Films",
      category: "Education",
      language: "en",
      published_at: "2026-11-20T18:30:00Z",
      duration_seconds: 612,
      score: 182340.5,
      expected_views: null,
      velocity: { views_per_hour: 9120.4, previous_views_per_hour: 8033.1, views: 104233 },
      thumbs,
      url,
    },
  ],
  next: trendingUrl({ ...firstPage, limit: 1, cursor: "4711-1" }),
};

const trendingChartPageExample: TrendingChartPage = {
  ...trendingPageExample,
  items: trendingPageExample.items.map((item) => ({
    ...item,
    sparkline: [...Array(8).fill(null), 0, 12, 340, 1201, 2530, 3120, 4015, 4980, ...Array(8).fill(9001)],
  })),
  next: trendingUrl({ ...firstPage, fields: "chart", limit: 1, cursor: "4711-1" }),
};

const trendingSnippetPageExample: TrendingSnippetPage = {
  ...trendingPageExample,
  items: trendingPageExample.items.map(({ id, rank, title, channel }) => ({
    id,
    rank,
    title,
    channel,
    thumbs,
    url,
  })),
  next: trendingUrl({ ...firstPage, fields: "snippet", limit: 1, cursor: "4711-1" }),
};

const videoExample: Video = {
  id: exampleVideoId,
  title: "How a lighthouse works",
  channel: "Harbour Films",
  category: "Education",
  language: "en",
  published_at: "2026-11-20T18:30:00Z",
  duration_seconds: 612,
  thumbs,
  url,
  tags: ["lighthouse", "sea"],
  licence: "CC-BY-4.0",
  titles: { de: "Wie ein Leuchtturm funktioniert" },
  pictures: [{ url: thumbs[0], width: 640, height: 360 }],
  generation: 4711,
  generated_at: "2026-11-21T10:00:00Z",
  trending: [
    {
      region: "DE",
      window: "day",
      category: null,
      rank: 1,
      score: 182340.5,
      expected_views: null,
      score_unit: "views",
    },
  ],
  history: [
    {
      region: "DE",
      observations: [
        { observed_at: "2026-11-21T09:58:00Z", views: 104233 },
        { observed_at: "2026-11-21T08:58:00Z", views: 95113 },
      ],
    },
  ],
};

const explanationExample: Explanation = {
  id: exampleVideoId,
  title: "How a lighthouse works",
  channel: "Harbour Films",
  category: "Education",
  region: "DE",
  window: "day",
  generation: 4711,
  generated_at: "2026-11-21T10:00:00Z",
  formula: "inverse-square-1",
  place: {
    rank: 1,
    total: 200,
    rank_without_channel_limit: 1,
    is_explored: false,
    score: 182340.5,
    expected_views: null,
    score_unit: "views",
  },
  absence: null,
  counts: {
    views: 104233,
    counted_at: "2026-11-21T09:58:00Z",
    views_per_hour: 9120.4,
    rated_at: "2026-11-21T09:31:12Z",
    previous_views_per_hour: 8033.1,
  },
  forecast: {
    window_hours: 24,
    age_starts_at: "2026-11-20T18:30:00Z",
    is_age_assumed: false,
    taper_hours: 7,
  },
  channel_limit: { videos: 3, within_ranks: 24 },
  visitors: null,
  sentences: [
    "“How a lighthouse works” is at rank 1 of 200 in the list of Germany for the next 24 hours, over all categories: it is expected to get 182,341 more views there in that time.",
    "It had 104,233 views when they were counted on 21 Nov 2026, 09:58 UTC, gaining 9,120 an hour; it is 15.5 hours old, and growth slows with age.",
  ],
};

const aboutExample: About = {
  generation: 4711,
  generated_at: "2026-11-21T10:00:00Z",
  formula: "inverse-square-1",
  windows: windows.map((name) => ({ name, hours: windowHours[name] })),
  channel_limit: { videos: 3, within_ranks: 24 },
  sources: [{ kind: "youtube", host: "www.googleapis.com" }],
  explore_share: 0.25,
  removed_videos: 2,
  thumb_hosts: ["thumbs.example"],
  impressions_counted: false,
};

const regionListExample: RegionList = {
  generation: 4711,
  oldest_generation: 4687,
  generated_at: "2026-11-21T10:00:00Z",
  categories: ["Education", "Music"],
  regions: [
    {
      code: "DE",
      name: "Germany",
      languages: ["de"],
      language_lists: ["de", "en"],
      audience_lists: ["kids"],
      live_lists: [],
      duration_lists: ["long", "short"],
      video_count: 1840,
      newest_observed_at: "2026-11-21T09:58:00Z",
      generation: 4711,
      oldest_generation: 4687,
      generated_at: "2026-11-21T10:00:00Z",
    },
  ],
};

// The key of RFC 8037, appendix A.
const publicKeysExample: PublicKeys = {
  keys: [
    {
      kty: "OKP",
      crv: "Ed25519",
      kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      use: "sig",
      alg: "EdDSA",
      purpose: "responses",
    },
    // A key of token-vectors.json.
    {
      kty: "OKP",
      crv: "Ed25519",
      kid: "WeVHjIQT",
      x: "JUO5L_EJVRFHatyDadtt3JM2ZaEZeN2hQE7hBmypVZ0",
      use: "sig",
      alg: "EdDSA",
      purpose: "tokens",
    },
  ],
};

const invalid = parseTrendingQuery(`limit=${listLengths.largestPage + 1}`).invalid ?? [];
const gone = listRefusals.generationGone(firstPage);

const problemExamples: Record<ProblemKind, Problem> = {
  "invalid-parameter": describeProblem("invalid-parameter", `limit: ${invalid[0]?.detail}`, { invalid }),
  "invalid-message": describeProblem("invalid-message", "opened: a rank is not on the page"),
  "edge-signature": describeProblem(
    "edge-signature",
    "This origin answers only requests that the edge has signed.",
  ),
  "token-refused": describeProblem("token-refused", "The token is expired."),
  "pull-signature": describeProblem("pull-signature", "The signature is not of now."),
  "not-found": describeProblem("not-found", "No such video."),
  "method-not-allowed": describeProblem("method-not-allowed", refusalDetails["method-not-allowed"]),
  "not-acceptable": describeProblem("not-acceptable", "Accept one of identity, br, zstd, gzip."),
  "generation-gone": describeProblem(gone.kind, gone.detail, gone.extras),
  "content-too-large": describeProblem("content-too-large", "A message has at most 2048 bytes."),
  "uri-too-long": describeProblem("uri-too-long", refusalDetails["uri-too-long"]),
  "unsupported-media-type": describeProblem(
    "unsupported-media-type",
    "Expected text/plain or application/json.",
  ),
  "not-implemented": describeProblem("not-implemented", "format: expected json", {
    invalid: [{ name: "format", detail: "expected json" }],
  }),
  "too-many-requests": describeProblem("too-many-requests", "Retry in a minute."),
  internal: describeProblem("internal", "The log has the cause under this id.", {
    instance: "urn:uuid:0c0a9e3e-6d6b-4b6e-9d59-1f4f6c2d7a10",
  }),
  busy: describeProblem("busy", "Too many different answers are being built."),
  "not-counted": describeProblem("not-counted", "The counters do not answer."),
  "not-ready": describeProblem("not-ready", "Nothing was published yet."),
};

/** The same list as both feeds, for the description. */

const jsonFeedExample = {
  version: "https://jsonfeed.org/version/1.1",
  title: "Trending: United Kingdom",
  language: "en",
  _trendvault: {
    region: "GB",
    window: "day",
    category: null,
    generation: 4711,
    generated_at: "2026-11-20T10:00:00Z",
    score_unit: "views",
  },
  items: [
    {
      id: "urn:uuid:b288b8c4-5301-5f65-936f-681b0777b377",
      url: "https://site.example/watch/GJ5N-98zdlw",
      title: "How a lighthouse works",
      content_text: "1. 67,431 views an hour",
      image: "https://thumbs.example/GJ5N-98zdlw/hq.webp",
      date_published: "2026-11-20T08:07:48Z",
      authors: [{ name: "Harbour Films" }],
      tags: ["Science & Technology"],
      _trendvault: {
        video: "GJ5N-98zdlw",
        rank: 1,
        previous_rank: 4,
        score: 182340.5,
        expected_views: null,
      },
    },
  ],
};

const atomFeedExample = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:trendvault="https://github.com/trendvault/trendvault" xml:lang="en">
  <id>urn:uuid:c07897e3-de70-52fc-bb1e-3e1c97e2dce4</id>
  <title>Trending: United Kingdom</title>
  <updated>2026-11-20T10:00:00Z</updated>
  <link rel="self" href="/feeds/GB.atom" type="application/atom+xml"/>
  <trendvault:score_unit>views</trendvault:score_unit>
  <entry>
    <id>urn:uuid:b288b8c4-5301-5f65-936f-681b0777b377</id>
    <title type="text">How a lighthouse works</title>
    <updated>2026-11-20T08:07:48Z</updated>
    <published>2026-11-20T08:07:48Z</published>
    <author><name>Harbour Films</name></author>
    <link rel="alternate" href="https://site.example/watch/GJ5N-98zdlw"/>
    <summary type="text">1. 67,431 views an hour</summary>
    <trendvault:score>182340.5</trendvault:score>
  </entry>
</feed>
`;

const {
  region,
  generation,
  generated_at,
  previous_generated_at,
  newest_observed_at,
  channel_limit,
  score_unit,
  items,
} = trendingPageExample;

const head: ExportHead = {
  region,
  generation,
  generated_at,
  previous_generated_at,
  newest_observed_at,
  channel_limit,
  score_unit,
  lists: [{ window: "day", count: items.length, total: items.length }],
  count: items.length,
};
const lines: ExportItem[] = items.map((item) => ({ window: "day", ...item }));

/** An export of one rank, for the description. */
const exportExample = [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");

/** One answer of every kind, for the description of the API. A test holds them against the schemas. */
export const examples = {
  videoId: exampleVideoId,
  trendingPage: trendingPageExample,
  trendingChartPage: trendingChartPageExample,
  trendingSnippetPage: trendingSnippetPageExample,
  video: videoExample,
  explanation: explanationExample,
  about: aboutExample,
  regionList: regionListExample,
  publicKeys: publicKeysExample,
  problems: problemExamples,
  jsonFeed: jsonFeedExample,
  atomFeed: atomFeedExample,
  export: exportExample,
};
