import { join } from "node:path";

export type WriterOptions = { root: string; db: string; env: Record<string, string> };

/** Runs one writer command; what it says goes to our standard error. Throws when it fails. */
export async function runWriter(words: readonly string[], options: WriterOptions): Promise<void> {
  const child = spawnWriter(words, options, "ignore");
  if ((await child.exited) !== 0) {
    throw new Error(`writer ${words[0]} failed (exit code ${child.exitCode}); what it said stands above`);
  }
}

/** True when the database holds no observation yet. Throws when its status cannot be read. */
export async function isEmpty(options: WriterOptions): Promise<boolean> {
  const child = spawnWriter(["status", "--json"], options, "pipe");
  const output = await new Response(child.stdout).text();
  await child.exited;
  const status = JSON.parse(output) as { regions: { videos: number }[] };
  return status.regions.every(({ videos }) => videos === 0);
}

/** Runs `writer cron` every `intervalMs` until the signal aborts. A failed run is reported; the next one tries again. */
export async function runEvery(
  intervalMs: number,
  options: WriterOptions,
  signal: AbortSignal,
): Promise<void> {
  while (await pause(intervalMs, signal)) {
    const child = spawnWriter(["cron"], options, "ignore");
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop);
    const exitCode = await child.exited;
    signal.removeEventListener("abort", stop);
    if (exitCode !== 0 && !signal.aborted) {
      console.error(`The writer's run failed (exit code ${exitCode}); it runs again in a minute.`);
    }
  }
}

/** Resolves with true after the time, with false as soon as the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((done) => {
    const timer = setTimeout(() => done(true), ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        done(false);
      },
      { once: true },
    );
  });
}

function spawnWriter(words: readonly string[], { root, db, env }: WriterOptions, stdout: "ignore" | "pipe") {
  const command = [join(root, "writer/bin/writer"), ...words, "--db", db];
  return Bun.spawn(command, { env, detached: true, stdin: "ignore", stdout, stderr: "inherit" });
}
