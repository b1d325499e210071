import type { Increments } from "./minute-counts.ts";
import { utf8 } from "./signed-answer.ts";

const cellCount = 64;
const mostVideos = 5000; // remembered, a kilobyte each; no region lists so many
const firstClicks = 32; // of each video tell how many senders a cell has: no single video can
const priorClicks = 8;

/** Clicks by cell, and behind the last cell their sum. */
type Clicks = Uint32Array;

/**
 * Of a video in this hour: all clicks, the first ones, and those that count. `shared`: pairs of the latter in one cell;
 * `expected`: as many as other videos have.
 */
type VideoClicks = { told: Clicks; first: Clicks; counted: Clicks; shared: number; expected: number };

/**
 * Decides which clicks count, knowing nobody: each sender falls into one of 64 cells, by a hash whose random key is
 * thrown away each hour. In one cell, a video's clicks count as far as its clicks in the other cells make them likely,
 * so that a sender moves one cell, and many visitors behind one address move theirs. A video whose clicks share cells too
 * often has few senders: its least cells say what counts, in that hour and the next one. All is in memory only.
 * writer/src/Simulation/SenderCells.php is the same rule.
 */
export class SenderCells {
  readonly #clock: () => number;
  #hour = -1;
  #key = "";
  #videos = new Map<string, VideoClicks>();
  #first = noClicks(); // on each video

  /** `clock` gives Unix seconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Takes the clicks that do not count out of what is given, and who sent them. */
  async judge({ senders = [], ...increments }: Increments): Promise<Increments> {
    this.renew();
    const cells = await Promise.all(senders.map(({ network }) => this.#cellOf(network)));
    for (const [index, { clicks }] of senders.entries()) {
      for (const [n, [position, rank]] of clicks.entries()) {
        const counts = increments.looks[position]?.ranks.find(([one]) => one === rank);
        if (counts !== undefined && !this.isCounted(counts[1], cells[index] as number, n < 1)) counts[3]--;
      }
    }
    return increments;
  }

  /** Whether one more click on a video counts, from a cell. Of a message only one click `tells` how many senders a cell has. */
  isCounted(videoId: string, cell: number, tells = true): boolean {
    this.renew();
    const video = this.#videos.get(videoId) ?? videoClicks();
    this.#videos.set(videoId, video);
    const { told, first, counted } = video;
    const inCell = of(this.#first, cell) - of(first, cell); // on other videos
    const inOthers = of(this.#first) - of(first) - inCell;
    const ratio = (inCell + priorClicks / cellCount) / (inOthers + priorClicks);
    const share = ratio / (1 + ratio);
    const likely = (of(counted) - of(counted, cell) + 1) * Math.max(ratio, 1 / cellCount);
    const most = isSuspect(video)
      ? 2 * of(told.slice(0, cellCount).sort(), cellCount / 16 - 1) * share * cellCount // a hundred senders leave an eighth empty, mostly
      : 1.3 + 1.5 * likely + 2 * Math.sqrt(likely);
    if (tells && of(first) < firstClicks) {
      add(first, cell);
      add(this.#first, cell);
    }
    add(told, cell);
    if (of(counted, cell) + 1 > most) return false;
    video.shared += of(counted, cell);
    video.expected += of(counted) * share;
    add(counted, cell);
    return true;
  }

  /** Forgets the hour before, and its key; in mid-hour, too, when there are too many videos. Suspects stay. */
  renew(): void {
    const hour = Math.floor(this.#clock() / 3600);
    if (hour === this.#hour && this.#videos.size < mostVideos) return;
    const suspects = [...this.#videos].filter(([, video]) => isSuspect(video) && isMostlyCut(video));
    const kept = hour > this.#hour + 1 ? [] : suspects;
    this.#hour = hour;
    this.#key = crypto.randomUUID();
    this.#videos = new Map(kept.map(([id]) => [id, videoClicks(Number.POSITIVE_INFINITY)]));
    this.#first = noClicks();
  }

  async #cellOf(network: string): Promise<number> {
    const hash = await crypto.subtle.digest("SHA-256", utf8(this.#key + network));
    return (new Uint8Array(hash)[0] as number) % cellCount;
  }
}

/** `shared`: infinite where the hour before made it a suspect. */
function videoClicks(shared = 0): VideoClicks {
  return { told: noClicks(), first: noClicks(), counted: noClicks(), shared, expected: 0 };
}

function noClicks(): Clicks {
  return new Uint32Array(cellCount + 1);
}

function of(clicks: Clicks, cell = cellCount): number {
  return clicks[cell] as number;
}

function add(clicks: Clicks, cell: number): void {
  clicks[cell] = of(clicks, cell) + 1;
  clicks[cellCount] = of(clicks) + 1;
}

/** Clicks share cells too often: by three standard deviations, a tenth for what the first clicks do not tell, and some for the few pairs of few clicks. */
function isSuspect({ shared, expected }: VideoClicks): boolean {
  return shared > 1.1 * expected + 3 * Math.sqrt(expected) + 6;
}

function isMostlyCut({ told, counted }: VideoClicks): boolean {
  return of(told) > 2 * of(counted) + cellCount;
}
