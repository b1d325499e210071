import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Aborting the signal ends the command that runs. */
export type WriterOptions = { root: string; db: string; env: Record<string, string>; signal: AbortSignal };

/** The exit code when a source ended early or is missing; what it gave is stored (docs/operations.md). */
export const SOURCE_FAILED = 4;

export class WriterFailed extends Error {
  constructor(
    command: string,
    readonly exitCode: number,
  ) {
    super(`writer ${command} failed (exit code ${exitCode}); see its message above`);
  }
}

/**
 * Runs one writer command; its messages go to our standard error.
 *
 * @throws WriterFailed
 */
export async function runWriter(args: readonly string[], options: WriterOptions): Promise<void> {
  const exitCode = await untilExit(spawnWriter(args, options, "ignore"), options.signal);
  if (exitCode !== 0) throw new WriterFailed(args[0] ?? "", exitCode);
}

/**
 * How many videos the database has of each region, most first.
 *
 * @throws WriterFailed
 */
export async function countVideos(options: WriterOptions): Promise<{ region: string; videos: number }[]> {
  const child = spawnWriter(["status", "--json"], options, "pipe");
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new WriterFailed("status", child.exitCode ?? 0);
  const status = JSON.parse(output) as { regions: { region: string; videos: number }[] };
  return status.regions.sort((left, right) => right.videos - left.videos);
}

/**
 * True when the database holds no observation yet.
 *
 * @throws WriterFailed
 */
export async function isEmpty(options: WriterOptions): Promise<boolean> {
  return (await countVideos(options)).every(({ videos }) => videos === 0);
}

/** Runs `writer cron` every `intervalMs` until the signal aborts. A failed run is reported; the next one tries again. */
export async function runEvery(
  intervalMs: number,
  options: WriterOptions,
  signal: AbortSignal,
): Promise<void> {
  while (await sleep(intervalMs, signal)) {
    const exitCode = await untilExit(spawnWriter(["cron"], options, "ignore"), signal);
    if (exitCode !== 0 && !signal.aborted) {
      console.error(`The writer's run failed (exit code ${exitCode}); it runs again in a minute.`);
    }
  }
}

async function untilExit(child: Bun.Subprocess, signal: AbortSignal): Promise<number> {
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  const exitCode = await child.exited;
  signal.removeEventListener("abort", stop);
  return exitCode;
}

/** Resolves with true after the time, with false as soon as the signal aborts. */
function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(ms, true, { signal }).catch(() => false);
}

function spawnWriter(args: readonly string[], { root, db, env }: WriterOptions, stdout: "ignore" | "pipe") {
  const command = [join(root, "writer/bin/writer"), ...args, "--db", db];
  return Bun.spawn(command, { cwd: root, env, detached: true, stdin: "ignore", stdout, stderr: "inherit" });
}
