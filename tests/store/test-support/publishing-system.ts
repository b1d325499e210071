import { Database } from "bun:sqlite";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { PublicKey, PublicKeySet } from "@trendvault/contract/keys";
import { freePort, newFolder, Program, root, SmallDisk, writerProgram } from "@trendvault/kit/machine";
import { TestStore } from "@trendvault/kit/object-store";
import { originCommand } from "@trendvault/kit/origin-process";
import type { Random } from "@trendvault/kit/random";
import { keySigner } from "../../../api/src/signing.ts";
import { Judge, type ServedLists } from "./judge.ts";
import { Mishaps } from "./mishaps.ts";

const videosPerRegion = 40;
export const publishedRegions = ["GB", "DE", "FR"] as const;
/** The exit code of a process that SIGKILL ended. */
export const killedCode = 128 + 9;

/** The real writer on a database of its own. Each run ingests newer counts and publishes a generation. */
class Publisher {
  readonly #folder: string;
  readonly #env: Record<string, string>;
  readonly #random: Random;
  readonly #startedAt = Date.now();
  #views = new Map<string, number>();
  #batches = 0;

  /** `env` has what publishing needs. */
  constructor(folder: string, { env, random }: { env: Record<string, string>; random: Random }) {
    this.#folder = folder;
    this.#random = random;
    mkdirSync(join(folder, "spool"), { recursive: true });
    this.#env = { ...env, DB_PATH: this.databasePath, SOURCES: `spool:${join(folder, "spool")}` };
  }

  get databasePath(): string {
    return join(this.#folder, "writer.db");
  }

  /** How many observations the writer was given. */
  get observations(): number {
    return this.#batches * publishedRegions.length * videosPerRegion;
  }

  /**
   * A minute of the writer: new counts are there, cron runs. Gives its exit code. `bundle` makes a bundle, too;
   * after `killAfterMs` the process is killed.
   */
  async publish(options: { bundle: boolean; killAfterMs?: number }): Promise<number> {
    this.#spool();
    return this.run(["cron"], options);
  }

  /** The same with all the time that a slow machine needs, where nothing goes wrong. */
  async publishUnhurried(options: { bundle: boolean }): Promise<number> {
    this.#spool();
    return this.run(["cron"], { ...options, settings: { STORE_TIMEOUT_SECONDS: "300" } });
  }

  async run(
    words: string[],
    {
      bundle = false,
      killAfterMs,
      settings = {},
    }: { bundle?: boolean; killAfterMs?: number; settings?: Record<string, string> } = {},
  ): Promise<number> {
    const render = bundle ? { RENDER_COMMAND: `${process.execPath} --no-env-file api/src/render.ts` } : {};
    const log = openSync(join(this.#folder, "writer.log"), "a");
    const child = Bun.spawn([writerProgram, ...words], {
      cwd: root,
      env: { ...this.#env, ...render, ...settings },
      stdin: "ignore",
      stdout: "ignore",
      stderr: log,
    });
    closeSync(log);
    const timer =
      killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    const exitCode = await child.exited;
    clearTimeout(timer);
    return exitCode;
  }

  /** What a command prints. @throws Error when it fails */
  async read(words: string[]): Promise<string> {
    const child = Bun.spawn([writerProgram, ...words], {
      cwd: root,
      env: this.#env,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [printed, said] = [await child.stdout.text(), await child.stderr.text()];
    if ((await child.exited) !== 0) throw new Error(`writer ${words.join(" ")} failed: ${said}`);
    return printed;
  }

  /** The end of what its runs wrote. */
  log(): string {
    return readFileSync(join(this.#folder, "writer.log"), "utf8").slice(-2000);
  }

  query<Row>(sql: string, ...values: (string | number)[]): Row[] {
    using database = new Database(this.databasePath, { readonly: true });
    database.run("PRAGMA busy_timeout = 60000"); // after a kill, the next one to open it recovers its log
    return database.query<Row, (string | number)[]>(sql).all(...values);
  }

  /** A file of counts, a second after the ones before it and none in the future. */
  #spool(): void {
    const lines = publishedRegions.flatMap((region) =>
      Array.from({ length: videosPerRegion }, (_, index) => JSON.stringify(this.#observe(region, index))),
    );
    const name = `${String(this.#batches++).padStart(6, "0")}.ndjson`;
    writeFileSync(join(this.#folder, name), `${lines.join("\n")}\n`);
    renameSync(join(this.#folder, name), join(this.#folder, "spool", name));
  }

  #observe(region: string, index: number): object {
    const id = `${region}-${index}`;
    const views = (this.#views.get(id) ?? 1000) + this.#random.below(100 * (1 + (index % 7)));
    this.#views.set(id, views);
    const observedAt = this.#startedAt - 3_600_000 + this.#batches * 1000;
    return {
      id,
      region,
      observed_at: new Date(observedAt).toISOString().replace(/\.\d+Z$/, "Z"),
      published_at: new Date(this.#startedAt - 30 * 3_600_000).toISOString(),
      views,
      title: `Video ${index} of ${region}`,
      channel: `Channel ${index}`,
      thumb_base: `https://thumbs.example/${id}`,
    };
  }
}

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
      command: [...originCommand],
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

/** One data centre of the edge, in workerd, without an origin. Its bucket is read through the store's proxy. */
async function startOriginlessEdge({
  folder,
  env,
  vars,
}: {
  folder: string;
  env: Record<string, string>;
  vars: Record<string, string>;
}): Promise<{ url: string; program: Program }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = new Program({
    name: "the edge",
    command: [
      join(root, "edge-worker/node_modules/.bin/wrangler"),
      ...["dev", "edge-worker/test/over-http.ts", "--local", "--env="],
      ...["--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"],
      ...["--persist-to", join(folder, "edge"), "--show-interactive-dev-session=false"],
      ...Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
    ],
    env: {
      ...env,
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_SEND_ERROR_REPORTS: "false",
      WRANGLER_HIDE_BANNER: "true",
      X_LOCAL_OBSERVABILITY: "false",
      X_LOCAL_EXPLORER: "false",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "false",
      CLOUDFLARE_INCLUDE_PROCESS_ENV: "true",
    },
    cwd: root,
    logPath: join(folder, "edge.log"),
    readyUrl: `${url}/healthz`,
  });
  await program.start();
  return { url, program };
}

const smallDiskMegabytes = 16;

/** One writer, a store, origins on files that followers keep, an edge without an origin, and a judge for each reader. */
export class PublishingSystem {
  readonly folder = newFolder("publishing");
  readonly lists: ServedLists = new Map();
  readonly readers: FollowingOrigin[] = [];
  readonly judges: Judge[] = [];
  readonly publisher: Publisher;
  /** What the first follower's file is on; null for a user who may not mount it. */
  readonly disk = SmallDisk.mount(smallDiskMegabytes);
  #edge: Program | undefined;
  #publicationKeys = "";
  /** Where the edge answers. */
  edgeUrl = "";

  private constructor(
    readonly store: TestStore,
    { env, random }: { env: Record<string, string>; random: Random },
  ) {
    this.publisher = new Publisher(this.folder, { env, random });
  }

  /** Starts all of it, with two generations, of which the second has a bundle. `settings` are for all parts. */
  static async start(
    random: Random,
    followers: readonly string[],
    settings: Record<string, string> = {},
  ): Promise<PublishingSystem> {
    const store = await TestStore.start();
    const env = { ...(await newEnvironment(store)), ...settings };
    const system = new PublishingSystem(store, { env, random });
    try {
      await system.#startAll(followers, env);
      return system;
    } catch (error) {
      await system.stop();
      throw error;
    }
  }

  async #startAll(followers: readonly string[], env: Record<string, string>): Promise<void> {
    await this.publisher.run(["migrate"]);
    for (const bundle of [false, true]) {
      const exitCode = await this.publisher.publishUnhurried({ bundle });
      if (exitCode !== 0) throw new Error(`the writer ended with ${exitCode}: ${this.publisher.log()}`);
    }
    this.#publicationKeys = await this.publisher.read(["publication-keys"]);
    const keys = await printedKeys(env);
    for (const name of followers) await this.#startFollower(name, { env, keys });
    await this.#startEdge({ env, keys });
  }

  get edge(): Program {
    if (this.#edge === undefined) throw new Error("The edge was not started");
    return this.#edge;
  }

  /** What a reader of the store needs. */
  get readerSettings(): Record<string, string> {
    return { ...this.store.settings, FOLLOW_URLS: this.store.address, FOLLOW_JWKS: this.#publicationKeys };
  }

  mishaps(random: Random): Mishaps {
    const { store, readers, edge, disk } = this;
    return new Mishaps({ store, readers, edge, disk, random });
  }

  async stop(): Promise<void> {
    for (const reader of this.readers) await reader.stop();
    await this.#edge?.kill();
    await this.store.remove();
    this.disk?.unmount();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #startFollower(
    name: string,
    { env, keys }: { env: Record<string, string>; keys: PublicKeySet },
  ): Promise<void> {
    const smallDisk = this.readers.length === 0 ? this.disk?.path : undefined;
    const dataFolder = smallDisk ?? join(this.folder, name);
    const metrics =
      env.METRICS_FILE === undefined ? {} : { METRICS_FILE: `${env.METRICS_FILE}.${name}.prom` };
    const settings = { ...env, ...this.readerSettings, ...metrics };
    const reader = await FollowingOrigin.start(name, { folder: this.folder, dataFolder, env: settings });
    this.readers.push(reader);
    this.judges.push(new Judge({ name, url: reader.url, keys, lists: this.lists }));
  }

  async #startEdge({ env, keys }: { env: Record<string, string>; keys: PublicKeySet }): Promise<void> {
    const publications = JSON.parse(this.#publicationKeys) as { keys: PublicKey[] };
    const jwks = JSON.stringify({ keys: [...keys.keys, ...publications.keys] });
    const vars = {
      ORIGIN_URL: "",
      ORIGIN_JWKS: jwks,
      BUNDLE_PREFIX: this.store.prefix.replace(/\/$/, ""),
      BUNDLE_NAMES: this.store.address.slice("s3://".length),
      STORE_URL: this.store.readUrl,
      EDGE_SIGNING_KEY: env.EDGE_SIGNING_KEY ?? "",
    };
    const { url, program } = await startOriginlessEdge({ folder: this.folder, env, vars });
    this.#edge = program;
    this.edgeUrl = url;
    this.judges.push(new Judge({ name: "the edge", url, keys, lists: this.lists }));
  }
}

/** The settings and keys of all parts over a store. */
async function newEnvironment(store: TestStore): Promise<Record<string, string>> {
  const [signing, tokens, publications, edge] = Array.from({ length: 4 }, () =>
    crypto.getRandomValues(Buffer.alloc(32)),
  ) as [Buffer, Buffer, Buffer, Buffer];
  const { PATH = "", HOME = "" } = process.env;
  return {
    PATH,
    HOME,
    PUBLISH_URL: store.address,
    STORE_TIMEOUT_SECONDS: "8",
    ...store.settings,
    SIGNING_KEYS: signing.toString("base64url"),
    TOKEN_SIGNING_KEYS: tokens.toString("base64url"),
    PUBLISH_SIGNING_KEYS: publications.toString("base64url"),
    EDGE_SIGNING_KEY: edge.toString("base64url"),
    EDGE_SIGNING_PUBLIC_KEYS: (await keySigner(edge)).x,
  };
}

/** Those that verify answers. */
async function printedKeys(env: Record<string, string>): Promise<PublicKeySet> {
  const command = [process.execPath, "--no-env-file", join(root, "api/src/render.ts"), "--keys"];
  const child = Bun.spawn(command, { env, stdout: "pipe", stderr: "inherit" });
  return JSON.parse(await child.stdout.text()) as PublicKeySet;
}
