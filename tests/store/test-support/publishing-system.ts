import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { PublicKey, PublicKeySet } from "@trendvault/contract/keys";
import type { Random } from "@trendvault/contract/test-support/random";
import { SmallDisk } from "../../../api/follow/test-support/small-disk.ts";
import { keySigner } from "../../../api/src/signing.ts";
import { FollowingOrigin } from "./following-origin.ts";
import { Judge, type ServedLists } from "./judge.ts";
import { Mishaps } from "./mishaps.ts";
import { startOriginlessEdge } from "./originless-edge.ts";
import type { Program } from "./program.ts";
import { Publisher } from "./publisher.ts";
import { TestStore } from "./test-store.ts";

const root = resolve(import.meta.dir, "../../..");
const smallDiskMegabytes = 16;

/** One writer, a store, origins on files that followers keep, an edge without an origin, and a judge for each reader. */
export class PublishingSystem {
  readonly folder = mkdtempSync(join(tmpdir(), "trendvault-publishing-"));
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
export async function newEnvironment(store: TestStore): Promise<Record<string, string>> {
  const [signing, tokens, publications, edge] = Array.from({ length: 4 }, () =>
    crypto.getRandomValues(Buffer.alloc(32)),
  ) as [Buffer, Buffer, Buffer, Buffer];
  const { PATH = "", HOME = "" } = process.env;
  return {
    PATH,
    HOME,
    PUBLISH_URL: store.address,
    PUBLISH_TIMEOUT_SECONDS: "8",
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
