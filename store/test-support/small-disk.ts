import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";

/** Mounts a disk of so many megabytes on a new folder. False for a user who may not. */
export function mountDisk(folder: string, megabytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]).status === 0;
}

export function unmountDisk(folder: string): void {
  spawnSync("umount", ["-l", folder]);
}
