import type { ViewCounts } from "@trendvault/contract/views";
import type { BlockIncrement, Increments } from "./minute-counts.ts";
import { utf8 } from "./signed-answer.ts";

const cellCount = 64;
const mostKept = 5000; // videos and depths, a kilobyte each at most; no region lists so many videos
const firstClicks = 32; // of each video tell how many senders a cell has: no single video can
const priorClicks = 8;

/** Clicks by cell, and behind the last cell their sum. */
type Clicks = Uint32Array;

/**
 * Of a video in this hour: all clicks, the first ones, and those that count. `shared`: pairs of the latter in one cell,
 * more than there can be where the hour before had too few senders; `expected`: as many as other videos have. Of messages that see
 * a list down to the same depth: all that are taken, and those whose impressions count.
 */
type Counts = { told: Clicks; first: Clicks; counted: Clicks; shared: number; expected: number };

/**
 * Decides what counts of a message, knowing nobody: each sender falls into one of 64 cells, by a hash whose random key is
 * thrown away each hour. A cell counts as far as the other cells make it likely, so that a sender moves one cell, and many
 * visitors behind one address move theirs:
 *
 *     message ── cell ─┬─> isTaken: as many messages as others, or as its clicks say?  if not, nothing of it counts
 *                      ├─> isSeen: sees a list as deep as others do?                   if not, no impression
 *                      └─> isCounted, for each click: on a video as others?            if not, not this click
 *
 * Impressions go without the clicks: where false messages fill a cell, a video keeps the clicks of its visitors. What a
 * message that is taken opened was seen, also where its click does not count, or the one that counts would be worth more.
 * Where many cells have too much, few senders are many cells: the least cells say what counts, in that hour and the next
 * one. All is in memory only. writer/src/Simulation/SenderCells.php is the same rule.
 */
export class SenderCells {
  readonly #clock: () => number;
  #hour = -1;
  #suspectUntil = -2; // that hour, few senders are many cells
  #key = "";
  #known = new Map<string, Counts>(); // by video, and by list and depth
  #first = noClicks(); // on each video
  #clicks = noClicks();
  #messages = noClicks();

  /** `clock` gives Unix seconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Takes what does not count out of what is given, and who sent it. */
  async judge({ senders = [], ...increments }: Increments): Promise<Increments> {
    this.renew();
    const cells = await Promise.all(senders.map(({ network }) => this.#cellOf(network)));
    for (const [index, { positions, ...told }] of senders.entries()) {
      const blocks = positions.map((position) => increments.looks[position] as BlockIncrement);
      this.#judgeMessage(blocks, told, cells[index] as number);
    }
    return increments;
  }

  #judgeMessage(blocks: BlockIncrement[], { firstSeen, lastSeen, opened }: ViewCounts, cell: number): void {
    const [{ window, category }] = blocks as [BlockIncrement];
    const depths = [lastSeen, [firstSeen, Math.clz32(lastSeen / firstSeen)]].map(
      (depth) => `${window} ${category} ${depth}`,
    );
    const isTaken = this.isTaken(cell);
    // What visitors open when they come back is in messages without an impression: many of one are no sign of few senders.
    const isSeen = isTaken && lastSeen >= firstSeen && this.isSeen(depths, cell);
    for (const counts of blocks.flatMap(({ ranks }) => ranks)) {
      const [rank, videoId] = counts;
      const isClick = opened.includes(rank);
      // Also of a message that is not taken: it says that its cell has visitors, so that later ones are.
      const isCounted = isClick && this.isCounted(videoId, cell, rank === opened[0]) && isTaken;
      const isImpression = rank >= firstSeen && rank <= lastSeen;
      takeOut(counts, isImpression && !(isClick ? isTaken : isSeen), isClick && !isCounted);
    }
  }

  /** Whether one more message counts, from a cell. */
  isTaken(cell: number): boolean {
    const ratio = ratioOf(of(this.#clicks, cell), inOthers(this.#clicks, cell));
    const likely = (inOthers(this.#messages, cell) + cellCount) * Math.max(ratio, 1 / cellCount);
    return addWithin(this.#messages, cell, 2 * likely + 9);
  }

  /** Whether the impressions of a message that is taken count. `depths`: where it stops seeing a list, exactly and roughly. */
  isSeen(depths: string[], cell: number): boolean {
    const sent = of(this.#messages, cell);
    let isSeen = true;
    for (const depth of depths) {
      const { told, counted } = this.#countsOf(depth);
      add(told, cell);
      const [low, isShared] = spreadOf(told);
      if (isShared) this.#suspectUntil = this.#hour + 1;
      const likely = ((inOthers(counted, cell) + 1) * sent) / (inOthers(this.#messages, cell) + 1);
      const most =
        this.#hour > this.#suspectUntil
          ? 2 * likely + 9
          : ((1.2 * low + 5) * cellCount * sent) / of(this.#messages);
      isSeen &&= addWithin(counted, cell, most);
    }
    return isSeen;
  }

  /** Whether one more click on a video counts, from a cell. Of a message only one click `tells` how many senders a cell has. */
  isCounted(videoId: string, cell: number, tells = true): boolean {
    this.renew();
    const video = this.#countsOf(videoId);
    const { told, first, counted } = video;
    const inCell = of(this.#first, cell) - of(first, cell); // on other videos
    const ratio = ratioOf(inCell, inOthers(this.#first, cell) - inOthers(first, cell));
    const share = ratio / (1 + ratio);
    const likely = (inOthers(counted, cell) + 1) * Math.max(ratio, 1 / cellCount);
    const most = isSuspect(video)
      ? 2 * spreadOf(told)[0] * share * cellCount
      : 1.3 + 1.5 * likely + 2 * Math.sqrt(likely);
    if (tells && of(first) < firstClicks) {
      add(first, cell);
      add(this.#first, cell);
    }
    add(told, cell);
    if (!addWithin(counted, cell, most)) return false;
    video.shared += of(counted, cell) - 1;
    video.expected += (of(counted) - 1) * share;
    add(this.#clicks, cell);
    return true;
  }

  /** Forgets the hour before, and its key; in mid-hour, too, when there is too much to keep. Suspects stay. */
  renew(): void {
    const hour = Math.floor(this.#clock() / 3600);
    if (hour === this.#hour && this.#known.size < mostKept) return;
    const kept = [...this.#known].filter(
      ([, known]) => isSuspect(known) && of(known.told) > 2 * of(known.counted) + cellCount,
    );
    this.#hour = hour;
    this.#key = crypto.randomUUID();
    this.#known = new Map(kept.map(([name]) => [name, newCounts(1e15)]));
    this.#first = noClicks();
    this.#clicks = noClicks();
    this.#messages = noClicks();
  }

  #countsOf(name: string): Counts {
    const known = this.#known.get(name) ?? newCounts();
    this.#known.set(name, known);
    return known;
  }

  async #cellOf(network: string): Promise<number> {
    const hash = await crypto.subtle.digest("SHA-256", utf8(this.#key + network));
    return (new Uint8Array(hash)[0] as number) % cellCount;
  }
}

/** A video that is removed meanwhile is of some messages only, and the writer takes no minute with a count below zero. */
function takeOut(counts: BlockIncrement["ranks"][number], isImpression: boolean, isClick: boolean): void {
  counts[2] = Math.max(0, counts[2] - Number(isImpression));
  counts[3] = Math.max(0, counts[3] - Number(isClick));
}

function newCounts(shared = 0): Counts {
  return { told: noClicks(), first: noClicks(), counted: noClicks(), shared, expected: 0 };
}

function noClicks(): Clicks {
  return new Uint32Array(cellCount + 1);
}

function of(clicks: Clicks, cell = cellCount): number {
  return clicks[cell] as number;
}

function inOthers(clicks: Clicks, cell: number): number {
  return of(clicks) - of(clicks, cell);
}

function add(clicks: Clicks, cell: number): void {
  clicks[cell] = of(clicks, cell) + 1;
  clicks[cellCount] = of(clicks) + 1;
}

function ratioOf(inCell: number, others: number): number {
  return (inCell + priorClicks / cellCount) / (others + priorClicks);
}

/** Adds one, if there are then at most so many from the cell. */
function addWithin(clicks: Clicks, cell: number, most: number): boolean {
  if (of(clicks, cell) + 1 > most) return false;
  add(clicks, cell);
  return true;
}

/**
 * What a sixteenth of the cells does not exceed (a hundred senders leave an eighth empty, mostly), and whether a quarter
 * has more than chance leaves there, also where each visitor sends three alike.
 */
function spreadOf(clicks: Clicks): [low: number, isShared: boolean] {
  const sorted = clicks.slice(0, cellCount).sort();
  const low = of(sorted, 3);
  return [low, of(sorted, 47) > 1.9 * low + 18];
}

/** Clicks share cells too often: by three standard deviations, a tenth for what the first clicks do not tell, and some for the few pairs of few clicks. */
function isSuspect({ shared, expected }: Counts): boolean {
  return shared > 1.1 * expected + 3 * Math.sqrt(expected) + 6;
}
