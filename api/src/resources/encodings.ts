/** Content codings in the order of preference; a representation is found by the index here. */
export const encodings = ["identity", "br", "zstd", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

export const identity = 0;
const preferred = [1, 2, 3, identity];

/**
 * The index of the coding to answer with, or null when the client refuses all of them (RFC 9110, section
 * 12.5.3). Highest q-value first; ours decides among equals. A malformed element is ignored.
 */
export function chooseEncoding(header: string | null): number | null {
  if (header === null || header === "") return identity;
  const weights = readWeights(header);
  let best: number | null = null;
  let bestWeight = 0;
  for (const index of preferred) {
    const weight = weightOf(index, weights);
    if (weight > bestWeight) {
      best = index;
      bestWeight = weight;
    }
  }
  return best;
}

/** chooseEncoding that remembers: browsers send a handful of different headers. Bounded, since clients choose them. */
export function memoizedChooseEncoding(capacity = 64): (header: string | null) => number | null {
  const known = new Map<string, number | null>();
  return (header) => {
    if (header === null) return identity;
    const remembered = known.get(header);
    if (remembered !== undefined) return remembered;
    const chosen = chooseEncoding(header);
    if (known.size >= capacity) known.clear();
    if (header.length <= 200) known.set(header, chosen);
    return chosen;
  };
}

const element = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/i;

function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(",")) {
    const match = element.exec(part.trim());
    if (match === null) continue;
    const name = (match[1] ?? "").toLowerCase();
    weights.set(name === "x-gzip" ? "gzip" : name, match[2] === undefined ? 1 : Number(match[2]));
  }
  return weights;
}

// Unlisted, identity stays acceptable unless * excludes it, but after every coding that the header names.
function weightOf(index: number, weights: Map<string, number>): number {
  const named = weights.get(encodings[index] ?? "");
  if (named !== undefined) return named;
  const any = weights.get("*");
  if (index !== identity) return any ?? 0;
  return any === 0 ? 0 : Number.MIN_VALUE;
}
