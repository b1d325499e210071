import { clockSkewSeconds } from "@trendvault/contract/lists";
import type { Pointer, VerifiedPointer } from "@trendvault/contract/pointer";
import { FollowFailure } from "./failure.ts";

/** How long ago a pointer was signed, in seconds; below 0 when one of the two clocks is wrong. */
export function ageSeconds({ published_at }: Pick<Pointer, "published_at">, now: number): number {
  return Math.floor((now - Date.parse(published_at)) / 1000);
}

/**
 * Whether a pointer that was verified is to be adopted, or is that of what is held already. `held` is the last one that
 * was accepted, null for a reader without memory; `isHeld` says whether its generation is in the local file. `now` is in
 * milliseconds.
 *
 * @throws FollowFailure when it must not be taken
 */
export function judgePointer(
  pointer: Pointer,
  held: Pointer | null,
  {
    isHeld,
    now,
    maxAgeSeconds,
    allowStale,
  }: { isHeld: boolean; now: number; maxAgeSeconds: number; allowStale: boolean },
): "adopt" | "current" {
  if (held !== null) {
    refuseOlder(pointer, held);
    return pointer.generation === held.generation && isHeld ? "current" : "adopt";
  }
  const age = ageSeconds(pointer, now);
  if (age <= maxAgeSeconds || allowStale) return "adopt";
  throw new FollowFailure(
    "stale",
    `The pointer of generation ${pointer.generation} is ${age} s old, and nothing newer is known here: expected one of the last ${maxAgeSeconds} s. ` +
      "See whether the writer publishes and the clocks are right; --allow-stale takes it all the same.",
  );
}

function refuseOlder(pointer: Pointer, held: Pointer): void {
  const isOther = pointer.generation === held.generation && pointer.file.sha256 !== held.file.sha256;
  if (pointer.generation > held.generation || (pointer.generation === held.generation && !isOther)) return;
  throw new FollowFailure(
    "older",
    `The store names generation ${pointer.generation}${isOther ? " with another object" : ""}, but ${held.generation} was accepted from it before: ` +
      "somebody put an older pointer back, or the store was restored. The newer one stays; if it is meant, move the database and its .follow file away.",
  );
}

/** @throws FollowFailure for everything but a valid one */
export function requireValid<Kind>(
  verified: VerifiedPointer<Kind>,
  { name, store, kids }: { name: string; store: string; kids: string[] },
): Kind {
  if (verified.verdict === "valid") return verified.pointer;
  const known = kids.length === 0 ? "none" : kids.join(", ");
  switch (verified.verdict) {
    case "malformed":
      throw new FollowFailure("malformed", `${name} is no pointer of ours. Who else writes there?`);
    case "other-version":
      throw new FollowFailure(
        "other_version",
        `${name} is of another version: update this program, or the writer if it is older.`,
      );
    case "unknown-key":
      throw new FollowFailure(
        "unknown_key",
        `${name} is signed by a key that is not in FOLLOW_JWKS (known: ${known}). If the writer has a new key, add what writer publication-keys prints.`,
      );
    case "tampered":
      throw new FollowFailure(
        "tampered",
        `${name} was changed after it was signed: see who can write there.`,
      );
    case "other-store":
      throw new FollowFailure(
        "other_store",
        `${name} is signed for another store than ${store}: somebody has copied it there, or the writer has a PUBLISH_NAME, which FOLLOW_NAMES must name.`,
      );
    case "from-future":
      throw new FollowFailure(
        "from_future",
        `${name} says that it was signed more than ${clockSkewSeconds} s later than it is here: set the clock of this machine, or the writer's.`,
      );
  }
}

/** What history a new pointer has, compared with the one that was accepted before it. */
export type Lineage = "next" | "unknown" | "differs";

/** `differs`: the pointer that was accepted here is not the one that this store now has before it. */
export function compareLineage(pointer: Pointer, held: { pointer: Pointer; sha256: string } | null): Lineage {
  const { previous } = pointer;
  if (held === null || pointer.generation === held.pointer.generation) return "unknown";
  if (previous === null || previous.generation < held.pointer.generation) return "differs";
  if (previous.generation > held.pointer.generation) return "unknown"; // some were passed over
  return previous.sha256 === held.sha256 ? "next" : "differs";
}
