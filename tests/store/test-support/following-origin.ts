import { Database } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePort } from "../../../edge-worker/test/free-port.ts";
import { Program } from "./program.ts";

const root = resolve(import.meta.dir, "../../..");

/** A follower of the store, and an origin on the file that it keeps: each is a process of its own. */
export class FollowingOrigin {
  readonly follower: Program;
  readonly origin: Program;
  #newest = 0;

  private constructor(
    readonly name: string,
    readonly url: string,
    readonly databasePath: string,
    { folder, env, port }: { folder: string; env: Record<string, string>; port: number },
  ) {
    const settings = { ...env, DB_PATH: databasePath };
    this.follower = new Program({
      name: `${name}'s follower`,
      command: [process.execPath, "--no-env-file", join(root, "api/follow/src/main.ts")],
      env: settings,
      cwd: folder,
      logPath: join(folder, `${name}-follower.log`),
    });
    this.origin = new Program({
      name: `${name}'s origin`,
      command: [process.execPath, "--no-env-file", join(root, "api/src/main.ts")],
      env: { ...settings, PORT: String(port), ADMIN_PORT: "0" },
      cwd: folder,
      logPath: join(folder, `${name}-origin.log`),
      readyUrl: `${url}/api/regions`,
    });
  }

  /** `folder` is for logs, `dataFolder` for the file. Starts both. */
  static async start(
    name: string,
    { folder, dataFolder, env }: { folder: string; dataFolder: string; env: Record<string, string> },
  ): Promise<FollowingOrigin> {
    mkdirSync(dataFolder, { recursive: true });
    const port = await freePort();
    const databasePath = join(dataFolder, "followed.db");
    const one = new FollowingOrigin(name, `http://127.0.0.1:${port}`, databasePath, { folder, env, port });
    try {
      await one.#startBoth();
      return one;
    } catch (error) {
      await one.stop();
      throw error;
    }
  }

  async #startBoth(): Promise<void> {
    await this.follower.start();
    while (!existsSync(this.databasePath)) {
      const [ended] = this.follower.ended;
      if (ended !== undefined) throw new Error(`${ended}: ${this.follower.log()}`);
      await Bun.sleep(20);
    }
    await this.origin.start();
  }

  /** Where the origin's metrics and readiness are. */
  get adminUrl(): string {
    return /"admin_url":"([^"]+)"/.exec(this.origin.log())?.[1] ?? "";
  }

  /** The newest generation in the file. @throws Error when the file is damaged */
  newestGeneration(): number {
    using database = new Database(this.databasePath, { readonly: true });
    const [check] = database.query<{ quick_check: string }, []>("PRAGMA quick_check").all();
    if (check?.quick_check !== "ok") throw new Error(`${this.databasePath}: ${check?.quick_check}`);
    return database.query<{ id: number }, []>("SELECT max(id) AS id FROM generations").get()?.id ?? 0;
  }

  /** Whether the file is whole, and not of an older generation than when this was asked before. */
  hasGoneForward(): boolean {
    const before = this.#newest;
    this.#newest = this.newestGeneration();
    return this.#newest >= before;
  }

  async stop(): Promise<void> {
    await this.follower.kill();
    await this.origin.kill();
  }
}
