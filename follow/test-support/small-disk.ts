import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

  /** Writes so much that these bytes are left. */
  fillUpTo(left: number): void {
    const { bavail, bsize } = statfsSync(this.path);
    writeFileSync(join(this.path, "ballast"), Buffer.alloc(Math.max(0, bavail * bsize - left)));
  }

  empty(): void {
    rmSync(join(this.path, "ballast"), { force: true });
  }

  unmount(): void {
    Bun.spawnSync(["umount", "-l", this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}
