import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const prefix = "trendvault-tests-";

/** Makes a folder of this process in `parent` for all that tests write, and removes those of runs that were killed. */
export function makeTestFolder(parent: string): string {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix)))
    if (!isRunning(Number(name.slice(prefix.length))))
      rmSync(join(parent, name), { recursive: true, force: true });
  const folder = join(parent, `${prefix}${process.pid}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it is another user's
  }
}
