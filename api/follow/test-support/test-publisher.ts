import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hashPointer, objectNames, type Pointer } from "@trendvault/contract/pointer";
import { DatabaseBuilder, type ListSeed, videos } from "@trendvault/kit/database";
import { TestPublicationSigner, testStoreName } from "@trendvault/kit/signers";

export type Publication = {
  lists?: ListSeed[];
  /** Ids and channels that are taken down. */
  removed?: string[];
  /** When it was ranked, in Unix seconds; each is a minute after the one before. */
  rankedAt?: number;
  /** When the pointer is signed, in milliseconds. */
  signedAt?: number;
  /** Changes the file before it is hashed and signed. */
  change?: (file: Buffer) => Uint8Array;
  /** Changes the database before it is a file. */
  prepare?: (builder: DatabaseBuilder) => void;
};

/** Whatever takes objects by name. */
type Sink = { write(name: string, bytes: Uint8Array): void };

/** `signer`: with the key of another publisher. */
type PublisherOptions = { generation?: number; name?: string; signer?: TestPublicationSigner };

/** Publishes generations as a writer does. */
export class TestPublisher {
  /** Of the last pointer. */
  bytes: Uint8Array<ArrayBuffer> | null = null;
  generation: number;
  #removalsVersion = 0;

  /** What it calls its store. */
  readonly name: string;

  private constructor(
    readonly signer: TestPublicationSigner,
    readonly store: Sink,
    { generation, name }: { generation: number; name: string },
  ) {
    this.generation = generation;
    this.name = name;
  }

  static async create(
    store: Sink,
    { generation = 100, name = testStoreName, signer }: PublisherOptions = {},
  ): Promise<TestPublisher> {
    const own = signer ?? (await TestPublicationSigner.create());
    return new TestPublisher(own, store, { generation, name });
  }

  get jwks(): string {
    return JSON.stringify({ keys: [this.signer.publicKey] });
  }

  /** Puts the next generation into the store, and gives its pointer. */
  async publish(publication: Publication = {}): Promise<Pointer> {
    this.generation++;
    const { change = (file) => file } = publication;
    const packed = Bun.gzipSync(new Uint8Array(this.#file(publication)), { level: 1 });
    const object = Uint8Array.from(change(Buffer.from(packed)));
    const sha256 = await hashPointer(object);
    this.store.write(objectNames.generation({ generation: this.generation, sha256 }), object);
    const previous = this.bytes && {
      generation: (JSON.parse(new TextDecoder().decode(this.bytes)) as Pointer).generation,
      sha256: await hashPointer(this.bytes),
    };
    const published_at = new Date(publication.signedAt ?? Date.now()).toISOString().replace(/\.\d+Z/, "Z");
    const file = { sha256, bytes: object.length };
    const { generation, name } = this;
    this.bytes = await this.signer.signPointer({ store: name, generation, published_at, file, previous });
    this.store.write(objectNames.pointer(this.generation), this.bytes);
    this.store.write(objectNames.current, this.bytes);
    return JSON.parse(new TextDecoder().decode(this.bytes));
  }

  #file({ lists = usualLists(), removed = [], rankedAt, prepare }: Publication): Buffer {
    const builder = new DatabaseBuilder();
    try {
      const { database } = builder;
      database.run("INSERT INTO sqlite_sequence VALUES ('generations', ?)", [this.generation - 1]);
      builder.publish(lists, rankedAt ?? 1_795_171_200 + this.generation * 60);
      const regions = JSON.stringify([...new Set(lists.map(({ region }) => region))]);
      database.run("DELETE FROM generation_regions WHERE region NOT IN (SELECT value FROM json_each(?))", [
        regions,
      ]);
      for (const name of removed) builder.takeDown("video", name);
      this.#removalsVersion += removed.length;
      database.run("UPDATE removals_version SET version = ?", [this.#removalsVersion]);
      prepare?.(builder);
      const copy = join(builder.folder, "copy.db");
      database.run("VACUUM INTO ?", [copy]);
      const bytes = readFileSync(copy);
      rmSync(copy);
      return bytes;
    } finally {
      builder.remove();
    }
  }
}

export function usualLists(): ListSeed[] {
  return ["GB", "DE"].map((region) => ({ region, videos: videos(30) }));
}
