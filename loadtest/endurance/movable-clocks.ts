import { type Clocks, noticeMs, type Part, parts } from "./clocks.ts";

/** The parts whose clocks cannot be moved, and sentences on why. */
export type Unmoved = { parts: readonly Part[]; sentences: string[] };

const triedSeconds = 30; // no part refuses another one for so little

/**
 * Moves every clock and back, to find those of which a part takes no notice. `clocks` may say why there are none; `read`
 * gives seconds that rise with the clock of a part.
 */
export async function findUnmoved(
  clocks: Clocks | string,
  read: Record<Part, () => Promise<number>>,
  { pauseMs = noticeMs, tries = 10 }: { pauseMs?: number; tries?: number } = {},
): Promise<Unmoved> {
  if (typeof clocks === "string") return { parts, sentences: [`No clock was moved: ${clocks}`] };
  const follows = async (part: Part) => {
    const [before, from] = [await read[part](), performance.now()];
    const isMoved = async () =>
      (await read[part]()) - before - (performance.now() - from) / 1000 > triedSeconds / 2;
    clocks[part].moveBy(triedSeconds);
    let [left, moved] = [tries, false];
    while (!moved && left-- > 0) {
      await Bun.sleep(pauseMs);
      moved = await isMoved();
    }
    clocks[part].moveBy(0);
    await Bun.sleep(pauseMs);
    return moved;
  };
  const found = await Promise.all(parts.map(follows));
  const unmoved = parts.filter((_, index) => !found[index]);
  const explain = (part: Part) =>
    `The ${part}'s clock was not moved: its program takes no notice of libfaketime here.`;
  return { parts: unmoved, sentences: unmoved.map(explain) };
}
