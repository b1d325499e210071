import { afterEach, beforeEach } from "bun:test";
import { DatabaseBuilder } from "./database-builder.ts";
import { openTestOrigin, type TestOrigin } from "./test-origin.ts";

/** What the tests of a file share: an empty database for each of them, and an origin over it once it was opened. */
export class OriginForEachTest {
  #builder: DatabaseBuilder | null = null;
  #origin: TestOrigin | null = null;

  /** Call it once in a file, outside of its tests. */
  constructor() {
    beforeEach(() => {
      this.#builder = new DatabaseBuilder();
    });
    afterEach(() => {
      this.#origin?.watcher.close();
      this.#origin = null;
      this.#builder?.remove();
    });
  }

  get builder(): DatabaseBuilder {
    if (this.#builder === null) throw new Error("There is a database in a test only");
    return this.#builder;
  }

  /** Opens an origin over the database, in the place of the one before. */
  async open(env: Record<string, string> = {}): Promise<void> {
    this.#origin?.watcher.close();
    this.#origin = await openTestOrigin(this.builder.path, env);
  }

  ask(target: string, init?: RequestInit): Promise<Response> {
    if (this.#origin === null) throw new Error("open() it first");
    return this.#origin.ask(target, init);
  }
}
