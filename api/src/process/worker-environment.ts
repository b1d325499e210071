import { type Environment, readKeyFiles, settingFileNames } from "../key-files.ts";
import type { Logger } from "../logging/logger.ts";
import type { Settings } from "../settings.ts";

/**
 * What workers start with: the environment of this process, with the text of its key files in the place of their paths.
 * They are read at the start and at SIGHUP only, so that a worker that crashes meanwhile comes back with the same keys.
 */
export class WorkerEnvironment {
  readonly #env: Environment;
  readonly #log: Logger;
  #current: Environment;
  #reason: string | null = null;

  /** Until `read` is called, workers read the key files themselves. */
  constructor(env: Environment, log: Logger) {
    this.#env = env;
    this.#log = log;
    this.#current = env;
  }

  get current(): Environment {
    return this.#current;
  }

  /** Why the keys of before are still used, or null. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Reads key files and settings. @throws Error with a line for each that is bad; then `current` stays as it is */
  async read(): Promise<Settings> {
    const { readSettings } = await import("../settings.ts"); // not before the first worker was started
    const files = readKeyFiles(this.#env);
    const settings = readSettings(this.#env, files);
    this.#current = files.values;
    return settings;
  }

  /** Reads the key files again, if there are any. When one of them is bad, the keys of all stay as they are. */
  async reload(): Promise<void> {
    if (!Object.keys(settingFileNames).some((name) => this.#env[name] !== undefined)) return;
    try {
      const { edgeKeys } = await this.read();
      this.#reason = null;
      const facts = { edge_key_ids: [...(edgeKeys ?? [])].map(([kid]) => kid) };
      this.#log("info", "keys_read", "The key files were read again.", facts);
    } catch (error) {
      const { message } = error as Error;
      this.#reason = `A key file cannot be used, and the keys of before are: ${message}`;
      this.#log("error", "keys_rejected", "A key file cannot be used; the keys of before stay.", {
        reason: message,
      });
    }
  }
}
