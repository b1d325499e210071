const shortest = 100; // milliseconds
const longest = 10_000;

/** Milliseconds to wait before a worker is started again, after so many crashes without a quiet time between. */
export function restartDelay(crashesInARow: number): number {
  return Math.min(longest, shortest * 2 ** Math.max(0, crashesInARow - 1));
}
