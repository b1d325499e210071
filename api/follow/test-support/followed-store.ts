import { afterEach, beforeEach } from "bun:test";
import { TestFollower } from "./test-follower.ts";
import { TestPublisher } from "./test-publisher.ts";
import { TestStore } from "./test-store.ts";

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
      for (const follower of followed.#followers) await follower.end();
      followed.forgetFollowers();
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

  /** Those that the test has ended itself. */
  forgetFollowers(): void {
    this.#followers = [];
  }
}
