/**
 * What a store may do wrong. `status` answers with an S3 error; `full` is that for a store without space;
 * `garbage` answers 200 with random bytes; `truncated` ends the connection in the middle of the body, `short` sends less
 * of it and says so; `slow` waits before the answer; `hang` gives none; `lying-etag` names another entity tag;
 * `unanswered` does what was asked and ends the connection without an answer; `lost` answers a PUT with 200 and stores
 * nothing; `older` answers with what the key held first, `swapped` with what another key of the same folder holds.
 */
export type Fault =
  | { kind: "status"; status: number; code?: string }
  | { kind: "slow"; milliseconds: number }
  | {
      kind:
        | "full"
        | "garbage"
        | "truncated"
        | "short"
        | "hang"
        | "lying-etag"
        | "unanswered"
        | "lost"
        | "older"
        | "swapped";
    };

/** Which requests a fault is for: `methods` (default all), keys that match the regular expression `keys` (default all). */
export type FaultRule = Fault & { methods?: string[]; keys?: string; times?: number };

/** What a rule is compared with: `key` without the bucket. */
export type Question = { method: string; key: string };

/** A fault of every kind, for tests that draw one. */
export const everyFault: readonly Fault[] = [
  { kind: "status", status: 500, code: "InternalError" },
  { kind: "status", status: 503, code: "SlowDown" },
  { kind: "status", status: 403, code: "AccessDenied" },
  { kind: "status", status: 404, code: "NoSuchKey" },
  { kind: "slow", milliseconds: 1500 },
  { kind: "full" },
  { kind: "garbage" },
  { kind: "truncated" },
  { kind: "short" },
  { kind: "hang" },
  { kind: "lying-etag" },
  { kind: "unanswered" },
  { kind: "lost" },
  { kind: "older" },
  { kind: "swapped" },
];

/** The rules that are in force. A rule with `times` is gone after it was used so often. */
export class FaultRules {
  #rules: FaultRule[] = [];

  add(rule: FaultRule): void {
    this.#rules.push({ ...rule });
  }

  clear(): void {
    this.#rules = [];
  }

  /** The first rule for a request, used up once; null when the request is to be answered as it should be. */
  take({ method, key }: Question): Fault | null {
    const rule = this.#rules.find(
      ({ methods, keys }) => (methods?.includes(method) ?? true) && new RegExp(keys ?? "").test(key),
    );
    if (rule === undefined) return null;
    if (rule.times !== undefined && --rule.times <= 0) this.#rules.splice(this.#rules.indexOf(rule), 1);
    return rule;
  }
}
