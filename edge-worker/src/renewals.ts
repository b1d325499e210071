import type { Problem } from "@trendvault/contract/problem";
import type { PublicKeySet } from "@trendvault/contract/response-signature";
import { type Ask, loggedTarget } from "./ask.ts";
import { BoundedMap } from "./bounded-map.ts";
import type { Copy } from "./copy.ts";
import { freshnessAt } from "./freshness.ts";
import type { HeldCopies } from "./held-copies.ts";
import type { LastResort } from "./last-resort.ts";
import { askOrigin, type OriginAnswer, type OriginSettings } from "./origin.ts";
import { absentOnFailure, type Report } from "./report.ts";
import { SingleFlight } from "./single-flight.ts";
import { judge } from "./storable.ts";

/** How asking for a newer copy ended. */
export type Renewal =
  | { kind: "copy"; copy: Copy; originSeconds: number }
  /** Another isolate of the data centre had it already. */
  | { kind: "found"; copy: Copy }
  | { kind: "problem"; problem: Problem }
  | { kind: "failure"; status: number | null; fallback: Fallback | null }
  | { kind: "refused"; fallback: Fallback | null };

/** What is served when there is nothing better. */
export type Fallback = { copy: Copy; from: "stale-if-error" | "last-resort" };

/** Who asks: what must outlive the answer, and whether they may cause a request to the origin. */
export type Visit = {
  keepAlive: (work: Promise<unknown>) => void;
  mayMiss: () => Promise<boolean>;
};

export type RenewalParts = {
  held: HeldCopies;
  lastResort: LastResort;
  origin: OriginSettings;
  keys: PublicKeySet;
  /** How long a target is left alone after the origin has failed at it or refused it. */
  pauseSeconds: number;
  /** Unix seconds. */
  clock: () => number;
  report: Report;
};

/** A renewal that gave no copy. While it is `pausing`, it is too early for another. */
export type Setback = { renewal: Renewal; pausing: boolean };

const cacheSeconds = 2; // what a renewal may take beyond the origin's deadline
const setbackSeconds = 60; // how long a setback is remembered after its pause
const mostSetbacks = 1024;

/** Asks the origin for copies: each target by one request at a time, and not at all for a while after a failure. */
export class Renewals {
  readonly #parts: RenewalParts;
  readonly #flights: SingleFlight<Renewal>;
  readonly #setbacks = new BoundedMap<{ renewal: Renewal; pauseEndsAt: number }>(mostSetbacks);

  constructor(parts: RenewalParts) {
    this.#parts = parts;
    this.#flights = new SingleFlight(parts.origin.deadlineSeconds + cacheSeconds);
  }

  /** How the last renewal ended, if it gave no copy and that was not long ago. */
  setback(target: string): Setback | null {
    const setback = this.#setbacks.get(target);
    const now = this.#parts.clock();
    if (setback === null || now >= setback.pauseEndsAt + setbackSeconds) return null;
    return { renewal: setback.renewal, pausing: now < setback.pauseEndsAt };
  }

  /** Renews, or waits with others for a renewal under way. */
  async renew(ask: Ask, visit: Visit): Promise<{ renewal: Renewal; joined: boolean }> {
    const first = await this.#share(ask, visit);
    // Another visitor had used up their share; that must not become this one's refusal.
    const { outcome, joined } =
      first.joined && first.outcome?.kind === "refused" ? await this.#share(ask, visit) : first;
    return { renewal: outcome ?? (await this.#giveUp(ask)), joined };
  }

  /** Renews for later visitors, at nobody's expense. */
  renewInBackground(ask: Ask, visit: Visit): void {
    if (this.setback(ask.target)?.pausing || this.#flights.isUnderWay(ask.target)) return;
    visit.keepAlive(this.renew(ask, { ...visit, mayMiss: async () => true }));
  }

  #share(ask: Ask, visit: Visit): Promise<{ outcome: Renewal | null; joined: boolean }> {
    return this.#flights.share(ask.target, () => {
      const work = this.#renew(ask, visit);
      visit.keepAlive(work);
      return work;
    });
  }

  // The request that was to do the work is gone, and the work with it.
  async #giveUp(ask: Ask): Promise<Renewal> {
    const { held, clock } = this.#parts;
    const usableCopy = usable(await held.find(ask.target), clock());
    return { kind: "failure", status: null, fallback: await this.#fallback(ask, usableCopy) };
  }

  async #renew(ask: Ask, visit: Visit): Promise<Renewal> {
    const { held, clock } = this.#parts;
    const shared = usable(await held.findShared(ask.target), clock());
    if (shared !== null && freshnessAt(clock(), shared) === "fresh") return { kind: "found", copy: shared };
    if (!(await visit.mayMiss())) return { kind: "refused", fallback: await this.#fallback(ask, shared) };
    return this.#ask(ask, shared, visit);
  }

  async #ask(ask: Ask, held: Copy | null, visit: Visit): Promise<Renewal> {
    const { origin, keys, clock } = this.#parts;
    const now = clock();
    const answer = await askOrigin(ask.target, origin);
    if (typeof answer === "string") return this.#fail(ask, held, { status: null, reason: answer });
    const verdict = await judge(answer, { ask, held, now, keys });
    if (verdict.kind === "failure") return this.#fail(ask, held, { ...answer, ...verdict });
    if (verdict.kind === "problem") return this.#pause(ask.target, verdict);
    this.#keep(ask, verdict.copy, visit);
    return { ...verdict, originSeconds: clock() - now };
  }

  #keep(ask: Ask, copy: Copy, visit: Visit): void {
    const { held, lastResort, report } = this.#parts;
    const written = Promise.all([held.keep(copy), lastResort.offer(ask, copy)]);
    this.#setbacks.delete(ask.target);
    visit.keepAlive(absentOnFailure(written, "copy not stored", report));
  }

  async #fail(
    ask: Ask,
    held: Copy | null,
    { status, reason }: { status: OriginAnswer["status"] | null; reason: string },
  ): Promise<Renewal> {
    this.#parts.report({ event: "origin failed", target: loggedTarget(ask), reason });
    const fallback = await this.#fallback(ask, held);
    return this.#pause(ask.target, { kind: "failure", status, fallback });
  }

  #pause(target: string, renewal: Renewal): Renewal {
    const { clock, pauseSeconds } = this.#parts;
    this.#setbacks.set(target, { renewal, pauseEndsAt: clock() + pauseSeconds });
    return renewal;
  }

  async #fallback(ask: Ask, held: Copy | null): Promise<Fallback | null> {
    if (held !== null) return { copy: held, from: "stale-if-error" };
    const { lastResort, report } = this.#parts;
    const copy = await absentOnFailure(lastResort.read(ask), "last resort not read", report);
    return copy === null ? null : { copy, from: "last-resort" };
  }
}

// What may not be served any more is no measure of what may: a database from a backup is older, and right.
function usable(copy: Copy | null, now: number): Copy | null {
  return copy !== null && freshnessAt(now, copy) !== "unusable" ? copy : null;
}
