import type { Problem } from "@trendvault/contract/responses";
import { retryAfterSeconds } from "./connection.ts";

export type ProblemType = Problem["type"];

/** A problem of a server that is no TrendVault's, like a proxy's: it has a status only (RFC 9457, section 4.2.1). */
type OtherProblem = Omit<Problem, "type"> & { type: "about:blank" };

/** An answer that is a problem (RFC 9457). `problem.type` says which; `message` is for people. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";

  constructor(
    readonly problem: Problem | OtherProblem,
    /** How long the server asks clients to wait, or null when it does not say. */
    readonly retryAfterSeconds: number | null,
  ) {
    super(problem.detail || problem.title);
  }

  get status(): number {
    return this.problem.status;
  }
}

/** Whether an error is a problem of this type, like "/problems/not-found". */
export function isProblem(error: unknown, type: ProblemType): error is ProblemError & { problem: Problem } {
  return error instanceof ProblemError && error.problem.type === type;
}

/** The restart address of a list whose generation was deleted, or null when the error is another. */
export function restartOf(error: unknown): string | null {
  return isProblem(error, "/problems/generation-gone") ? (error.problem.restart ?? null) : null;
}

/** The JSON of an answer. @throws ProblemError for a problem */
export async function readJson<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  throw problemError(await response.json().catch(() => null), response);
}

/** The error that an answer with this body is. */
export function problemError(body: unknown, response: Response): ProblemError {
  return new ProblemError(readProblem(body, response), retryAfterSeconds(response));
}

function readProblem(body: unknown, { status, statusText }: Response): Problem | OtherProblem {
  const isOne = typeof body === "object" && body !== null && "type" in body && "title" in body;
  return isOne
    ? (body as Problem)
    : { type: "about:blank", title: statusText || String(status), status, detail: "" };
}
