import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The files of the project, relative to `root`, that match patterns of `git ls-files`: tracked ones and new ones that
 * git does not ignore.
 */
export function trackedFiles(patterns: readonly string[], root: string): string[] {
  const command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", ...patterns];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: root });
  if (exitCode !== 0) throw new Error(`Cannot list the files to check: ${stderr.toString().trim()}`);
  return stdout
    .toString()
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)));
}
