import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const blockBytes = 2 ** 22;

/** A disk of some megabytes. */
export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), "trendvault-disk-"));

  /** Null for a user who may not mount one. */
  static mount(megabytes: number): SmallDisk | null {
    const disk = new SmallDisk();
    const argv = ["mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk.path];
    if (Bun.spawnSync(argv).success) return disk;
    rmSync(disk.path, { recursive: true });
    return null;
  }

  /**
   * Writes so much that these bytes are left, or fewer where others write meanwhile. It writes block by block, so that the
   * process goes on with what else it does, such as measuring response times.
   */
  async fillUpTo(left: number): Promise<void> {
    const { bavail, bsize } = statfsSync(this.path);
    const block = Buffer.alloc(blockBytes);
    await using ballast = await open(join(this.path, "ballast"), "w");
    try {
      for (let rest = Math.floor(bavail * bsize - left); rest > 0; )
        rest -= (await ballast.write(block, 0, Math.min(rest, block.length))).bytesWritten;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }

  empty(): void {
    rmSync(join(this.path, "ballast"), { force: true });
  }

  unmount(): void {
    Bun.spawnSync(["umount", "-l", this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}
