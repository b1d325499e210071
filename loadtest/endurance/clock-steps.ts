import { clockSkewSeconds } from "@trendvault/contract/lists";
import type { Random } from "@trendvault/contract/test-support/random";
import type { Part } from "./clocks.ts";

/** A clock is set wrong by so many seconds, and right again after so long. */
type ClockStep = { seconds: number; heldSeconds: number };

/** What NTP corrects; what is tolerated between machines, and a bit more; a virtual machine that was resumed. */
const sizes = [2, 30, 90, 300] as const;
const [leastHeld, mostHeld] = [8, 24];

export function drawClockStep(random: Random): ClockStep {
  const direction = random.pick([-1, 1]);
  const heldSeconds = leastHeld + random.below(mostHeld - leastHeld + 1);
  return { seconds: direction * random.pick(sizes), heldSeconds };
}

/** Whether an origin may refuse those whose clocks are right, and be refused by them: contract/lists.ts. */
export function mayRefuse(part: Part, { seconds }: ClockStep): boolean {
  return part === "origin" && Math.abs(seconds) > clockSkewSeconds;
}

export function describeStep({ seconds, heldSeconds }: ClockStep): string {
  return `${seconds > 0 ? "+" : "−"}${Math.abs(seconds)} s for ${heldSeconds} s`;
}
