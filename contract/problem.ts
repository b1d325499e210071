/**
 * The closed vocabulary of what can go wrong, and its one map to HTTP (RFC 9457). A type never changes its
 * meaning; clients compare it, people read `detail`.
 */
export const problems = {
  "invalid-parameter": { status: 400, title: "A parameter is not allowed or has a bad value" },
  "edge-signature": { status: 403, title: "The request does not carry a valid edge signature" },
  "not-found": { status: 404, title: "There is nothing at this address" },
  "method-not-allowed": { status: 405, title: "The method is not allowed here" },
  "not-acceptable": { status: 406, title: "Every content coding that there is was refused" },
  "generation-gone": { status: 410, title: "The generation of this cursor is no longer kept" },
  "uri-too-long": { status: 414, title: "The address is too long" },
  "too-many-requests": { status: 429, title: "Too many different answers were asked for from one network" },
  internal: { status: 500, title: "The request failed here" },
  busy: { status: 503, title: "Too many different answers are being built" },
  "not-ready": { status: 503, title: "There is no ranking to serve" },
} as const;

export type ProblemKind = keyof typeof problems;

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** With "invalid-parameter": every parameter that was refused, and what is allowed instead. */
  invalid?: { name: string; detail: string }[];
  /** With "generation-gone": where to start again. */
  restart?: string;
  /** With "internal": the id under which the log says more. */
  instance?: string;
};

/** The members that only some problems have. */
export type ProblemExtras = Pick<Problem, "invalid" | "restart" | "instance">;

export const problemContentType = "application/problem+json";

export function problemType(kind: ProblemKind): string {
  return `urn:trendvault:problem:${kind}`;
}

export function describeProblem(kind: ProblemKind, detail: string, more: ProblemExtras = {}): Problem {
  return { type: problemType(kind), ...problems[kind], detail, ...more };
}
