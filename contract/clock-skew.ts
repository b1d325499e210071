/** How far the clock of whoever signed something may be ahead of ours, in seconds. */
export const clockSkewSeconds = 60;

/** Whether a time lies further ahead than clocks differ: it says nothing about age then. Both are Unix seconds. */
export function isFromFuture(time: number, now: number): boolean {
  return time > now + clockSkewSeconds;
}
