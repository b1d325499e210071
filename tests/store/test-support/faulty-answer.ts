import { createHash, randomBytes } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import type { Fault } from "./faults.ts";
import type { RememberedObjects } from "./remembered-objects.ts";

export type Answer = { status: number; headers: OutgoingHttpHeaders; body: Buffer };

/** An S3 error. */
export function errorAnswer(status: number, code: string): Answer {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  return answerOf(status, Buffer.from(text), { "content-type": "application/xml" });
}

/** What a store answers that has stored the body. */
export function storedAnswer(body: Buffer): Answer {
  return answerOf(200, Buffer.alloc(0), { etag: `"${createHash("md5").update(body).digest("hex")}"` });
}

/** What a fault makes of a whole answer to a request for `key`. A refusal stays what it is. */
export function faultyAnswer(
  answer: Answer,
  { fault, key, remembered }: { fault: Fault | null; key: string; remembered: RememberedObjects },
): Answer {
  if (answer.status !== 200 && answer.status !== 206) return answer;
  switch (fault?.kind) {
    case "garbage":
      return { ...answer, body: randomBytes(answer.body.length) };
    case "short":
      return answerOf(answer.status, answer.body.subarray(0, answer.body.length / 2), answer.headers);
    case "lying-etag":
      return { ...answer, headers: { ...answer.headers, etag: `"${randomBytes(16).toString("hex")}"` } };
    case "older":
      return inPlaceOf(answer, remembered.oldest(key));
    case "swapped":
      return inPlaceOf(answer, remembered.neighbour(key));
    default:
      return answer;
  }
}

function inPlaceOf(answer: Answer, object: { etag: string; body: Buffer } | null): Answer {
  if (object === null || answer.body.length === 0) return answer;
  return answerOf(200, object.body, { ...answer.headers, etag: object.etag });
}

function answerOf(status: number, body: Buffer, headers: OutgoingHttpHeaders): Answer {
  return { status, headers: { ...headers, "content-length": body.length }, body };
}
