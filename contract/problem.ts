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
