import { join } from "node:path";
import type { Line } from "./test-follower.ts";

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
