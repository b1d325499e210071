const longestSeconds = 15;

/**
 * Seconds until the next look: the interval, and after failures in a row up to 15 s, between half of that and all of it,
 * so that many followers do not come back at the same moment. `random` is from 0 to below 1.
 */
export function retryDelaySeconds(
  failures: number,
  { intervalSeconds, random }: { intervalSeconds: number; random: number },
): number {
  if (failures === 0) return intervalSeconds;
  const longest = Math.max(intervalSeconds, Math.min(longestSeconds, intervalSeconds * 2 ** failures));
  return longest * (0.5 + random / 2);
}
