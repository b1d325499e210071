import { expect, test } from "bun:test";
import { missingServer, TestStore } from "@trendvault/kit/object-store";
import { FollowerProcess, TestFollower } from "../test-support/test-follower.ts";
import { TestPublisher } from "../test-support/test-publisher.ts";

/** Objects that are written to a bucket in the order they come. */
class BucketWriter {
  done: Promise<unknown> = Promise.resolve();
  readonly #client: Bun.S3Client;
  readonly #prefix: string;

  constructor(store: TestStore) {
    this.#client = new Bun.S3Client(store.direct);
    this.#prefix = store.prefix;
  }

  write(name: string, bytes: Uint8Array): void {
    this.done = this.done.then(() => this.#client.write(this.#prefix + name, bytes));
  }
}

const reason = missingServer();

test.skipIf(reason !== null)(
  `a real S3 server is followed and verified (${reason ?? "there is one"})`,
  async () => {
    const store = await TestStore.start();
    const bucket = new BucketWriter(store);
    const publisher = await TestPublisher.create(bucket);
    const env = { ...store.settings, FOLLOW_JWKS: publisher.jwks };
    const follower = new TestFollower({ addresses: [store.address], env });
    try {
      expect(await follower.poll()).toBe("missing");
      for (let count = 0; count < 3; count++) await publisher.publish();
      await bucket.done;
      await follower.settle();
      expect(follower.generations()).toEqual([101, 102, 103]);
      const asked = store.proxy.exchanges.length;
      expect(await follower.poll()).toBeNull();
      expect(store.proxy.exchanges.slice(asked)).toEqual([expect.objectContaining({ status: 304 })]);

      const history = new FollowerProcess([store.address, "--data"], env, "verify-history.ts");
      expect(await history.ended()).toBe(0);
      expect(history.lines.map(({ message }) => message).join("\n")).toContain("data: 3 there, 0 thinned");
      const stranger = { ...env, S3_SECRET_ACCESS_KEY: "another one" };
      const denied = new TestFollower({ addresses: [store.address], env: stranger });
      expect(await denied.poll()).toBe("denied");
      await denied.end();
    } finally {
      await follower.end();
      await store.remove();
    }
  },
  1_200_000,
);
