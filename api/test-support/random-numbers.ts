/** Random numbers that follow from a seed (mulberry32). */
export function randomNumbers(seed: number) {
  let state = seed;
  const fraction = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (smallest: number, largest: number) =>
    smallest + Math.floor(fraction() * (largest - smallest + 1));
  return {
    /** At least 0, less than 1. */
    fraction,
    /** Both bounds included. */
    integer,
    pick<T>(values: readonly T[]): T {
      const value = values[integer(0, values.length - 1)];
      if (value === undefined) throw new Error("Cannot pick one of none");
      return value;
    },
  };
}
