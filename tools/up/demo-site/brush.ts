/** Colours, and choices that follow from what is drawn. */
export type Brush = {
  light: string;
  dark: string;
  accent: string;
  /** A number from `least` to below `limit`, with one decimal. */
  between: (least: number, limit: number) => number;
  pick: <T>(choices: readonly T[]) => T;
  /** What a function draws for 0 up to below `count`, one after the other. */
  times: (count: number, draw: (index: number) => string) => string;
};

/** The same for the same seed text. `hue` is in degrees. */
export function createBrush(seed: string, hue: number): Brush {
  const next = randomNumbers(seed);
  return {
    light: `hsl(${hue + 20} 80% 91%)`,
    dark: `hsl(${hue - 10} 55% 17%)`,
    accent: `hsl(${hue + 150 + 60 * next()} 85% 66%)`,
    between: (least, limit) => Math.round((least + next() * (limit - least)) * 10) / 10,
    pick: (choices) => choices[Math.floor(next() * choices.length)] as (typeof choices)[number],
    times: (count, draw) => Array.from({ length: count }, (_, index) => draw(index)).join(""),
  };
}

/** Numbers from 0 to below 1: mulberry32, from the FNV-1a hash of the seed. */
function randomNumbers(seed: string): () => number {
  let state = 0x811c9dc5;
  for (const byte of Buffer.from(seed)) state = Math.imul(state ^ byte, 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
