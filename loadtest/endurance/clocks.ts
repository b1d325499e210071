import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { clockSkewSeconds } from "@trendvault/contract/lists";
import type { Random } from "@trendvault/kit/random";

/** Each of them has a clock of its own, as if it ran on a machine of its own. */
const parts = ["writer", "origin", "edge"] as const;
export type Part = (typeof parts)[number];

const root = resolve(import.meta.dir, "../..");
const library = join(root, ".tools/faketime/libfaketimeMT.so.1");

/** A process knows after a second that its clock was moved (FAKETIME_CACHE_DURATION); on a busy machine a bit later. */
export const noticeMs = 2000;

/**
 * The clock of a part, which is moved while the part runs: libfaketime adds to the time what a file says. It does not move
 * monotonic clocks, as nothing does that sets a system's clock, nor the times of files.
 */
export class Clock {
  readonly #path: string;
  readonly #shared: string;

  /** `shared`: what programs find in FAKETIME_SHARED; nothing when it is empty. */
  constructor(path: string, shared = "") {
    this.#path = path;
    this.#shared = shared;
    this.moveBy(0);
  }

  /** From the true time, in seconds. */
  moveBy(seconds: number): void {
    const next = `${this.#path}.next`; // nobody must read half of it
    writeFileSync(next, `${seconds < 0 ? "" : "+"}${seconds}\n`);
    renameSync(next, this.#path);
  }

  /** The variables that give it to a program of the system, and to all that this starts. */
  get env(): Record<string, string> {
    const shared = this.#shared === "" ? {} : { FAKETIME_SHARED: this.#shared };
    return { ...this.#settings, ...shared, LD_PRELOAD: library };
  }

  /** The variables that give it to the workerd that wrangler starts, and to nothing else. */
  get envOfWrangler(): Record<string, string> {
    const wrangler = realpathSync(join(root, "edge-worker/node_modules/wrangler"));
    const { default: WORKERD } = createRequire(join(wrangler, "package.json"))("workerd");
    return {
      ...this.#settings,
      WORKERD,
      MINIFLARE_WORKERD_PATH: join(import.meta.dir, "workerd-with-clock"),
    };
  }

  get #settings(): Record<string, string> {
    return {
      FAKETIME_TIMESTAMP_FILE: this.#path,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }
}

/**
 * Brings libfaketime, and makes clocks whose files are in a folder; or says why there are none. `remove` is for when
 * nothing runs any more.
 */
export async function makeClocks(folder: string) {
  const child = Bun.spawn([join(root, "tools/setup/bring"), "faketime"], {
    stdout: "inherit",
    stderr: "pipe",
  });
  const said = await child.stderr.text();
  if ((await child.exited) !== 0) return said.trim().split("\n").at(-1) ?? "";
  const path = join(folder, "clocks");
  mkdirSync(path);
  const shared = makeShared();
  const of = (part: Part) => new Clock(join(path, part), shared);
  return { writer: of("writer"), origin: of("origin"), edge: of("edge"), remove: () => removeShared(shared) };
}

/**
 * The names of a semaphore and a piece of shared memory. Each program makes its own ones, and some leave them behind; so
 * all of a run share those of one that is killed.
 */
function makeShared(): string {
  const words = ["sh", "-c", 'echo "$FAKETIME_SHARED"; kill -9 $$'];
  const { stdout } = Bun.spawnSync(words, { env: { PATH: process.env.PATH, LD_PRELOAD: library } });
  return stdout.toString().trim();
}

function removeShared(names: string): void {
  const [semaphore, memory] = names.split(" ").map((name) => name.replace("/", ""));
  if (semaphore === undefined || memory === undefined) return; // this system has none
  for (const name of [`sem.${semaphore}`, memory]) rmSync(join("/dev/shm", name), { force: true });
}

/** What NTP corrects; what is tolerated between machines, and a bit more; a virtual machine that was resumed. */
const sizes = [2, 30, 90, 300] as const;
const [leastHeld, mostHeld] = [8, 24];

/**
 * By how many seconds the clock of a part is set wrong, and how long until it is right again. `mayRefuse`: whether an
 * origin may refuse those whose clocks are right, and be refused by them (contract/lists.ts). `isAhead`: whether the
 * writer's generations are of the future to the origin, so that `/readyz` says that clocks differ (docs/operations/run.md).
 */
export function drawClockStep(part: Part, random: Random) {
  const direction = random.pick([-1, 1]);
  const heldSeconds = leastHeld + random.below(mostHeld - leastHeld + 1);
  const size = random.pick(sizes);
  return {
    seconds: direction * size,
    heldSeconds,
    mayRefuse: part === "origin" && size > clockSkewSeconds,
    isAhead: size > clockSkewSeconds && part === (direction > 0 ? "writer" : "origin"),
    description: `${direction > 0 ? "+" : "−"}${size} s for ${heldSeconds} s`,
  };
}

/** The parts whose clocks cannot be moved, and sentences on why. */
type Unmoved = { parts: readonly Part[]; sentences: string[] };

const triedSeconds = 30; // no part refuses another one for so little

/**
 * Moves every clock and back, to find those of which a part takes no notice. `clocks` may say why there are none, `read`
 * gives seconds that rise with the clock of a part.
 */
export async function findUnmoved(
  clocks: Record<Part, Clock> | string,
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
