const shortest = 100; // milliseconds
const longest = 3000; // so soon after its database is back, an origin without workers answers again

/** Milliseconds to wait before a worker is started again, after so many crashes without a quiet time between. */
export function restartDelay(crashesInARow: number): number {
  return Math.min(longest, shortest * 2 ** Math.max(0, crashesInARow - 1));
}
