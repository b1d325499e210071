import { Database } from "bun:sqlite";
import { afterEach, beforeEach } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import { attempt } from "../src/follow-store.ts";
import { Follower } from "../src/follower.ts";
import { LocalFile } from "../src/local-file.ts";
import { Memory } from "../src/memory.ts";
import { Metrics } from "../src/metrics.ts";
import { keyReader, readSettings } from "../src/settings.ts";
import { openStore } from "../src/stores.ts";
import { TestPublisher } from "./test-publisher.ts";
import { TestStore } from "./test-store.ts";

/** The real program. */
export class FollowerProcess {
  readonly lines: Line[] = [];
  stderr = "";
  readonly #child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly #read: Promise<unknown>;

  constructor(argv: string[], env: Record<string, string>, program = "main.ts") {
    const path = join(import.meta.dir, "../src", program);
    this.#child = Bun.spawn([process.execPath, "--no-env-file", path, ...argv], {
      env: { PATH: process.env.PATH ?? "", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#read = Promise.all([this.#readLines(), this.#readErrors()]);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Its exit code, when it has ended and all of its output was read. */
  async ended(): Promise<number> {
    const code = await this.#child.exited;
    await this.#read;
    return code;
  }

  async #readErrors(): Promise<void> {
    this.stderr = await this.#child.stderr.text();
  }

  async #readLines(): Promise<void> {
    let rest = "";
    for await (const chunk of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.lines.push(part.startsWith("{") ? JSON.parse(part) : { message: part });
    }
  }
}

type FollowerOptions = Partial<ConstructorParameters<typeof TestFollower>[0]>;

/** A store, its publisher and the followers that a test starts; new for each test, and gone after it. */
export class FollowedStore {
  store!: TestStore;
  publisher!: TestPublisher;
  #followers: TestFollower[] = [];

  /** For all tests of a file. */
  static forEachTest(): FollowedStore {
    const followed = new FollowedStore();
    beforeEach(async () => {
      followed.store = await TestStore.create();
      followed.publisher = await TestPublisher.create(followed.store);
    });
    afterEach(async () => {
      for (const follower of followed.#followers.toReversed()) await follower.end();
      followed.#followers = [];
      await followed.store.remove();
    });
    return followed;
  }

  start(env: Record<string, string> = {}, options: FollowerOptions = {}): TestFollower {
    const all = {
      ...this.store.settings,
      FOLLOW_JWKS: this.publisher.jwks,
      SOURCE_TIMEOUT_SECONDS: "300",
      ...env,
    };
    const follower = new TestFollower({ addresses: [this.store.address], env: all, ...options });
    this.#followers.push(follower);
    return follower;
  }
}

type Options = {
  addresses: string[];
  env: Record<string, string>;
  folder?: string;
  allowStale?: boolean;
  clock?: () => number;
  checkFile?: () => Promise<"whole" | "damaged">;
};

export type Line = { level: string; event: string; message: string } & Record<string, unknown>;

/** A follower in this process, over a folder of its own, which looks when it is told. */
export class TestFollower {
  readonly folder: string;
  readonly path: string;
  readonly lines: Line[] = [];
  readonly metrics = new Metrics();
  readonly file: LocalFile;
  readonly #memory: Memory;
  readonly #followers: Follower[];
  readonly #settings: { timeoutSeconds: number };
  readonly #stop = new AbortController();

  constructor({ addresses, env, folder, allowStale = false, clock = Date.now, checkFile }: Options) {
    this.folder = folder ?? newFolder("follow");
    this.path = join(this.folder, "lists.db");
    const settings = readSettings(
      { stores: addresses, database: this.path, metrics: null, allowStale, once: false },
      env,
    );
    const log = (level: string, event: string, message: string, facts = {}) =>
      void this.lines.push({ level, event, message, ...facts });
    this.#settings = settings;
    this.#memory = Memory.open(`${this.path}.follow`);
    const { retentionSeconds } = settings;
    const stores = settings.stores.map(({ text }) => text);
    this.file = new LocalFile(this.path, {
      ...{ stores, retentionSeconds, memory: this.#memory, log },
      ...(checkFile && { checkFile }),
    });
    const shared = { file: this.file, memory: this.#memory, log, metrics: this.metrics, clock };
    const readKeys = keyReader(settings.keys, log);
    this.#followers = settings.stores.map((address) => {
      const store = openStore(address, settings.s3, this.metrics);
      const own = { store, storeName: address.name, readKeys };
      return new Follower({ ...shared, ...own }, settings);
    });
  }

  /** How long an object may take from now on. What is not meant to take too long has minutes, on a busy machine. */
  set timeoutSeconds(seconds: number) {
    this.#settings.timeoutSeconds = seconds;
  }

  /** Looks at one store, or at all, once each; the reason of the first failure, or null. */
  async poll(only?: number): Promise<string | null> {
    const followers = only === undefined ? this.#followers : this.#followers.slice(only, only + 1);
    let first: string | null = null;
    for (const follower of followers) {
      const loop = { store: "", poll: (signal: AbortSignal) => follower.poll(signal) };
      const failure = await attempt(loop as never, this.#stop.signal);
      if (failure !== null)
        this.lines.push({ level: "error", event: failure.reason, message: failure.message });
      first ??= failure?.reason ?? null;
    }
    return first;
  }

  /** Looks until nothing changes any more. */
  async settle(): Promise<void> {
    for (let before = ""; before !== this.bytes(); ) {
      before = this.bytes();
      await this.poll();
    }
  }

  bytes(): string {
    try {
      return new Bun.CryptoHasher("sha256").update(readFileSync(this.path)).digest("hex");
    } catch {
      return "none";
    }
  }

  query<Row>(sql: string): Row[] {
    const database = new Database(this.path, { readonly: true, strict: true });
    try {
      return database.query<Row, []>(sql).all();
    } finally {
      database.close();
    }
  }

  generations(): number[] {
    return this.query<{ id: number }>("SELECT id FROM generations ORDER BY id").map(({ id }) => id);
  }

  events(): string[] {
    return this.lines.map(({ event }) => event);
  }

  /** Ends it, once; `keep` leaves the files for another one. */
  async end({ keep = false } = {}): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#stop.abort();
      await this.file.close();
      this.#memory.close();
    }
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}
