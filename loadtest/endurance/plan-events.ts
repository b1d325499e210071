import type { Random } from "@trendvault/contract/test-support/random";

/** Something that happens at a second of the run. */
export type PlannedEvent<Kind extends string> = { second: number; kind: Kind };

/** Without events, at the beginning and at the end. */
export const quietSeconds = 120;
/** For what happens and the recovery from it. */
const slotSeconds = 60;

/** One event in each minute: every kind in some order, and then again in another one. */
export function planEvents<Kind extends string>(
  seconds: number,
  { kinds, random }: { kinds: readonly Kind[]; random: Random },
): PlannedEvent<Kind>[] {
  const events: PlannedEvent<Kind>[] = [];
  let deck: Kind[] = [];
  for (let slot = quietSeconds; slot + slotSeconds <= seconds - quietSeconds; slot += slotSeconds) {
    if (deck.length === 0) deck = [...kinds];
    const [kind] = deck.splice(random.below(deck.length), 1);
    if (kind !== undefined) events.push({ second: slot + random.below(slotSeconds / 3), kind });
  }
  return events;
}
