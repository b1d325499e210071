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

  /** Writes so much that these bytes are left, block by block: who measures response times meanwhile is not held up. */
  async fillUpTo(left: number): Promise<void> {
    const { bavail, bsize } = statfsSync(this.path);
    const block = Buffer.alloc(blockBytes);
    await using ballast = await open(join(this.path, "ballast"), "w");
    for (let rest = Math.floor(bavail * bsize - left); rest > 0; )
      rest -= (await ballast.write(block, 0, Math.min(rest, block.length))).bytesWritten;
  }

  empty(): void {
    rmSync(join(this.path, "ballast"), { force: true });
  }

  unmount(): void {
    Bun.spawnSync(["umount", "-l", this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}
