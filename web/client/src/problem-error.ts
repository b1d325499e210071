import type { Problem } from "@trendvault/contract/responses";
import { readBody, retryAfterSeconds } from "./connection.ts";

export type ProblemType = Problem["type"];

/** A problem of a server that is no TrendVault's, like a proxy's: it has a status only (RFC 9457, section 4.2.1). */
type OtherProblem = Omit<Problem, "type"> & { type: "about:blank" };

/** An answer that is a problem (RFC 9457). `problem.type` says which; `message` is for people. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";

  /** The error that an answer with this body is. */
  static of(body: unknown, response: Response): ProblemError {
    return new ProblemError(readProblem(body, response), retryAfterSeconds(response), response.url);
  }

  constructor(
    readonly problem: Problem | OtherProblem,
    /** How long the server asks clients to wait, or null when it does not say. */
    readonly retryAfterSeconds: number | null,
    /** What was asked, where that is known. */
    readonly url = "",
  ) {
    super(`${problem.detail || problem.title}${url && ` (${url})`}`);
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

/**
 * What an answer from `url` says, which has an array `field`. @throws ProblemError for a problem; TypeError for what is
 * no such answer, like a page of a proxy
 */
export async function readJson<T>(
  response: Response,
  { url, field }: { url: string; field: string },
): Promise<T> {
  const text = new TextDecoder().decode(await readBody(response, url));
  const body = parse(text);
  if (!response.ok) throw ProblemError.of(body ?? text, response);
  if (isRecord(body) && isArrayOf(field, body[field]) && (field !== "items" || isPlaced(body)))
    return body as T;
  const what = response.headers.get("content-type") ?? "of no type";
  throw new TypeError(
    `Cannot use the answer of ${url}: it has no \`${field}\` (${text.length} characters, ${what})`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isArrayOf(field: string, value: unknown): boolean {
  return Array.isArray(value) && (field !== "items" || value.every(isItem));
}

function isItem(item: unknown): boolean {
  return (
    isRecord(item) &&
    typeof item.id === "string" &&
    typeof item.title === "string" &&
    Number.isInteger(item.rank)
  );
}

/** Whether a list says when it was made and what follows. */
function isPlaced({ generated_at: madeAt, next }: Record<string, unknown>): boolean {
  const isMade = typeof madeAt === "string" && !Number.isNaN(Date.parse(madeAt));
  return isMade && (next === null || typeof next === "string");
}

function readProblem(body: unknown, { status, statusText }: Response): Problem | OtherProblem {
  const isOne =
    isRecord(body) && [body.type, body.title, body.detail].every((text) => typeof text === "string");
  return isOne
    ? ({ ...body, status } as Problem)
    : { type: "about:blank", title: statusText || String(status), status, detail: "" };
}
