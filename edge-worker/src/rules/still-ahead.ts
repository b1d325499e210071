/**
 * Whether a time is still to come that was set to be at most `longest` ahead. One that is further ahead was set before
 * the clock was set back, and counts as past: else what waits for seconds would wait for as long as the clock was wrong.
 * All are of one unit.
 */
export function isStillAhead(time: number, { now, longest }: { now: number; longest: number }): boolean {
  const rounding = 1;
  return now < time && time - now <= longest + rounding;
}
