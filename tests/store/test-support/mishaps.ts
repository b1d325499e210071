import type { Program, SmallDisk } from "@trendvault/kit/machine";
import { everyFault, type TestStore } from "@trendvault/kit/object-store";
import type { Random } from "@trendvault/kit/random";
import type { FollowingOrigin } from "./publishing-system.ts";

/** Something that goes wrong, and what ends it. */
type Mishap = { name: string; begin: () => unknown; end: () => unknown };

type Options = {
  store: TestStore;
  readers: readonly FollowingOrigin[];
  edge: Program;
  /** What a reader's file is on, if this user may mount one. */
  disk: SmallDisk | null;
  random: Random;
};

const longestRounds = 3;

/** Draws what goes wrong in each round: everything in some order, and then again in another one. */
export class Mishaps {
  /** How often each has happened. */
  readonly counts = new Map<string, number>();
  readonly #mishaps: readonly Mishap[];
  readonly #options: Options;
  #deck: Mishap[] = [];
  readonly #underWay = new Map<Mishap, number>();
  /** What could not be undone while the store was down. */
  readonly #repairs: (() => Promise<void>)[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#mishaps = [
      ...options.readers.map((reader) => this.#killFollower(reader)),
      this.#killStore(),
      this.#killEdge(),
      this.#misbehave(),
      this.#misbehave(),
      this.#fillStore(),
      this.#putBackOlderPointer(),
      this.#swapObject(),
      ...(options.disk === null ? [] : [this.#fillDisk(options.disk)]),
    ];
  }

  /** Ends what has lasted long enough, and begins something else, or nothing. */
  async nextRound(): Promise<void> {
    const { random } = this.#options;
    for (const [mishap, rounds] of this.#underWay) {
      if (rounds > 1) this.#underWay.set(mishap, rounds - 1);
      else await this.#end(mishap);
    }
    if (random.below(4) === 0) return;
    const mishap = this.#drawNext();
    if (this.#underWay.has(mishap)) return;
    this.#underWay.set(mishap, 1 + random.below(longestRounds));
    this.#count(mishap.name);
    await mishap.begin();
  }

  #drawNext(): Mishap {
    if (this.#deck.length === 0) this.#deck = [...this.#mishaps];
    const [drawn] = this.#deck.splice(this.#options.random.below(this.#deck.length), 1);
    return drawn as Mishap;
  }

  async endAll(): Promise<void> {
    for (const mishap of [...this.#underWay.keys()]) await this.#end(mishap);
    this.#options.store.proxy.rules.clear();
    for (const repair of this.#repairs.splice(0)) await repair(); // now that the store is there
  }

  async #end(mishap: Mishap): Promise<void> {
    this.#underWay.delete(mishap);
    await mishap.end();
  }

  #count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  #killFollower({ follower }: FollowingOrigin): Mishap {
    return { name: "killed follower", begin: () => follower.kill(), end: () => follower.start() };
  }

  #killStore(): Mishap {
    const { server } = this.#options.store;
    return { name: "killed store", begin: () => server.kill(), end: () => server.start() };
  }

  #killEdge(): Mishap {
    const { edge } = this.#options;
    return { name: "killed edge", begin: () => edge.kill(), end: () => edge.start() };
  }

  /** Some answers of the store are wrong, for all who ask it or for some objects. */
  #misbehave(): Mishap {
    const { store, random } = this.#options;
    const begin = () => {
      const fault = random.pick(everyFault);
      const keys = random.pick(["", "current\\.json$", "bundle", "generations/", "pointers/"]);
      store.proxy.rules.add({ ...fault, keys, times: 1 + random.below(8) });
      this.#count(`fault ${fault.kind === "status" ? fault.status : fault.kind}`);
    };
    return { name: "misbehaving store", begin, end: () => store.proxy.rules.clear() };
  }

  #fillStore(): Mishap {
    const { rules } = this.#options.store.proxy;
    return { name: "full store", begin: () => rules.add({ kind: "full" }), end: () => rules.clear() };
  }

  /** By hand, past the proxy: somebody has the bucket's keys, and not those that sign. */
  #putBackOlderPointer(): Mishap {
    const begin = async () => {
      for (const [current, folder] of [
        ["current.json", "pointers/"],
        ["bundle.json", "bundles/"],
      ] as const) {
        const older = await this.#draw(folder, /\.json$/);
        if (older !== null) await this.#copy(older, current);
      }
    };
    return { name: "older pointer", begin, end: () => {} };
  }

  /** An object gets the bytes of another one, and its own again. */
  #swapObject(): Mishap {
    let undo = async () => {};
    const begin = async () => {
      undo = async () => {};
      const folder = this.#options.random.pick(["generations/", "bundles/"]);
      const kind = folder === "bundles/" ? /\.bundle$/ : /\.gz$/;
      const [one, other] = [await this.#draw(folder, kind), await this.#draw(folder, kind)];
      if (one === null || other === null || one === other) return;
      const bytes = await this.#client.file(one).bytes();
      undo = async () => void (await this.#client.write(one, bytes));
      await this.#copy(other, one);
    };
    const end = () => undo().catch(() => this.#repairs.push(undo));
    return { name: "swapped object", begin: () => begin().catch(() => {}), end };
  }

  #fillDisk(disk: SmallDisk): Mishap {
    const { random } = this.#options;
    const begin = () => disk.fillUpTo(random.below(200_000));
    return { name: "full disk", begin, end: () => disk.empty() };
  }

  get #client(): Bun.S3Client {
    return new Bun.S3Client(this.#options.store.direct);
  }

  /** One of the newest objects of a folder; null where there is none, or no store. */
  async #draw(folder: string, kind: RegExp): Promise<string | null> {
    const { store, random } = this.#options;
    const listed = await this.#client.list({ prefix: store.prefix + folder }).catch(() => null);
    const keys = (listed?.contents ?? []).map(({ key }) => key).filter((key) => kind.test(key));
    return keys.length === 0 ? null : random.pick(keys);
  }

  async #copy(from: string, name: string): Promise<void> {
    const { prefix } = this.#options.store;
    const to = name.startsWith(prefix) ? name : prefix + name;
    await this.#client.write(to, await this.#client.file(from).bytes()).catch(() => {});
  }
}
