/**
 * The closed vocabulary of what can go wrong, and its one map to HTTP (RFC 9457). A kind never changes its meaning;
 * clients compare `type`, people read `detail`.
 */
export const problems = {
  "invalid-parameter": { status: 400, title: "A parameter is unknown or has a value that is not allowed" },
  "invalid-message": { status: 400, title: "The message is not one that a list's page sends" },
  "edge-signature": { status: 403, title: "The request has no valid edge signature" },
  "token-refused": { status: 403, title: "The token is not one of a list that was served lately" },
  "pull-signature": { status: 403, title: "The request has no valid signature of a writer" },
  "not-found": { status: 404, title: "Nothing exists at this address" },
  "method-not-allowed": { status: 405, title: "The method is not allowed" },
  "not-acceptable": { status: 406, title: "The request refuses every content coding" },
  "generation-gone": { status: 410, title: "The generation of this cursor was deleted" },
  "content-too-large": { status: 413, title: "The body is too large" },
  "uri-too-long": { status: 414, title: "The address is too long" },
  "unsupported-media-type": { status: 415, title: "The body is of another type" },
  "too-many-requests": { status: 429, title: "Too many different requests from one network" },
  internal: { status: 500, title: "The request failed" },
  "not-implemented": { status: 501, title: "The answer has another format" },
  busy: { status: 503, title: "Too many answers are being built" },
  "not-counted": { status: 503, title: "Nothing can be counted now" },
  "not-ready": { status: 503, title: "No ranking is available" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemKind = keyof typeof problems;

export const problemKinds = Object.keys(problems) as ProblemKind[];

/** A problem document: the body of every error. */
export type Problem = {
  /** A reference relative to the address of the request (RFC 9457, section 3.1.1); a page explains it there. */
  type: string;
  title: string;
  status: number;
  detail: string;
  /** With "invalid-parameter": every parameter that was refused, and what is allowed instead. */
  invalid?: { name: string; detail: string }[];
  /** With "generation-gone": the URL of the first page of the newest generation. */
  restart?: string;
  /** With "internal": the id of the log line with the cause. */
  instance?: string;
};

/** The members that only some problems have. */
export type ProblemExtras = Pick<Problem, "invalid" | "restart" | "instance">;

export const problemContentType = "application/problem+json";

/** The `type` of a kind, and the path of its page (problem-page.ts). */
export function problemType(kind: ProblemKind): `/problems/${ProblemKind}` {
  return `/problems/${kind}`;
}

/** A problem document of a kind. `detail` says what is wrong with this request and repeats nothing that it sent. */
export function describeProblem(kind: ProblemKind, detail: string, extras: ProblemExtras = {}): Problem {
  return { type: problemType(kind), ...problems[kind], detail, ...extras };
}

/** What a problem means, and what to do about it. */
type Explanation = { meaning: string; remedy: string };

const explanations: Record<ProblemKind, Explanation> = {
  "invalid-parameter": {
    meaning: "The query has a parameter that is unknown, is repeated or has a value outside of its range.",
    remedy: "Read `invalid`: it names each parameter and what is allowed. Do not retry without a change.",
  },
  "invalid-message": {
    meaning:
      "A message about a list has a field that is unknown or missing, or it names a rank that was not on the page.",
    remedy: "Read `detail`. Send what docs/http-api.md describes. Do not retry without a change.",
  },
  "edge-signature": {
    meaning:
      "The origin answers only requests that the edge has signed, and this request is not one of them.",
    remedy: "Send the request to the public host name. As an operator, compare EDGE_KEYS and both clocks.",
  },
  "token-refused": {
    meaning:
      "The token was not signed by this site's origin, was changed, or is of a list that was served too long ago.",
    remedy: "Send the token of the list that was shown, within half an hour. Do not retry.",
  },
  "pull-signature": {
    meaning:
      "Counted minutes are given only to a writer that signs its requests, and this request is not signed so.",
    remedy: "As an operator, compare VIEWS_KEYS and both clocks.",
  },
  "not-found": {
    meaning: "The path does not exist, or it names a video that was never observed.",
    remedy: "Compare the path with /openapi.json.",
  },
  "method-not-allowed": {
    meaning: "Nothing at this path takes this method. Most of the API is read-only.",
    remedy: "Use a method that the field Allow names.",
  },
  "not-acceptable": {
    meaning:
      "Accept-Encoding refuses every content coding that the API has, the plain one (identity) included.",
    remedy: "Accept identity, br, zstd or gzip.",
  },
  "generation-gone": {
    meaning: "A cursor belongs to one generation of the ranking, and that generation was deleted.",
    remedy: "Start again at `restart`, the first page of the newest generation.",
  },
  "content-too-large": {
    meaning: "The body is larger than any message about a list.",
    remedy: "Send one message for one list, with the ranks of its page only.",
  },
  "uri-too-long": {
    meaning: "Path and query together are longer than any request that this API has a use for.",
    remedy: "Send only the parameters in /openapi.json.",
  },
  "unsupported-media-type": {
    meaning: "A message is JSON, sent as text/plain or application/json.",
    remedy: "Send it with navigator.sendBeacon as text, or with the type application/json.",
  },
  "too-many-requests": {
    meaning:
      "One network has requested many different answers that were not cached, or sent many messages, in a short time.",
    remedy: "Wait for as long as Retry-After says. Cached answers are not limited.",
  },
  internal: {
    meaning: "The server failed. The cause is in its log, under the id in `instance`.",
    remedy: "Retry later. When you report it, give the id.",
  },
  "not-implemented": {
    meaning: "An answer of oEmbed is JSON, and this request asks for another format.",
    remedy: "Ask for `format` json, or name none.",
  },
  busy: {
    meaning: "Many different answers are being built, and no further one can wait in the queue.",
    remedy: "Retry after the time in Retry-After.",
  },
  "not-counted": {
    meaning:
      "The counters do not answer, or the list of the token cannot be read. Nobody was told that it was counted.",
    remedy: "A page need not send it again: counts are estimates. As an operator, read the edge's log.",
  },
  "not-ready": {
    meaning: "Nothing was published yet, or the answer is not in memory while the database cannot be read.",
    remedy: "Retry after the time in Retry-After.",
  },
};

/** The HTML page of a kind: its title, its status, what it means and what to do. The same for every request. */
export function renderProblemPage(kind: ProblemKind): string {
  const { status, title } = problems[kind];
  const { meaning, remedy } = explanations[kind];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<main>
<h1>${title}</h1>
<p>HTTP status ${status}, type <code>${problemType(kind)}</code> (<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>)
<h2>What it means</h2>
<p>${withCode(meaning)}
<h2>What to do</h2>
<p>${withCode(remedy)}
<p><a href="/openapi.json">Description of the API</a>
</main>
</html>
`;
}

function withCode(text: string): string {
  return text.replace(/`([a-z]+)`/g, "<code>$1</code>");
}
