/** What random choices follow from: TEST_SEED, or another one each time. Print it in the test's name. */
export const testSeed = Number(process.env.TEST_SEED || 1 + Math.floor(Math.random() * (2 ** 32 - 1)));

/** How often to draw: TEST_LONG makes it a long run. */
export function drawsOf(draws: { usual: number; long: number }): number {
  return process.env.TEST_LONG ? draws.long : draws.usual;
}

/** Random choices that a seed repeats. */
export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed = testSeed) {
    this.seed = seed;
    this.#state = seed;
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    const state = this.#state;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below a limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

const pieces = [
  "<script>alert(1)</script>",
  "</script><script>alert(1)</script>",
  "<!--",
  "-->",
  "<![CDATA[",
  "]]>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "</template></ol></body>",
  "<template shadowrootmode=open>",
  "<plaintext>",
  "<textarea>",
  '" onmouseover="alert(1)',
  "' onclick='alert(1)",
  "javascript:alert(1)",
  "&lt;b&gt;",
  "&amp",
  "&#x3c;",
  "\\u003c/script>",
  '"token":""',
  '","token":"',
  "\0",
  "\r\n",
  "\ud83d",
  "\u2028",
  "\u202e",
  "\u0085",
  "مرحبا بالعالم",
  "שלום",
  "👩‍👩‍👧‍👦🏳️‍🌈",
  "é",
  "Ünïcödé",
  "$\u007balert(1)}",
  "%3Cscript%3E",
  "{n}",
  "a".repeat(300),
  " ",
  "A film",
];

/** A text of up to eight pieces that markup, attributes, data blocks and templates stumble over. */
export function hostileText(random: Random): string {
  return Array.from({ length: 1 + random.below(8) }, () => random.pick(pieces)).join("");
}
