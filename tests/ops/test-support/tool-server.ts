import { type Tool, toolPath } from "./tools.ts";

/** A program of Prometheus that listens on a port which the system chose, until it is stopped. */
export class ToolServer {
  readonly #child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  readonly #address = Promise.withResolvers<string>();
  #said = "";

  constructor(tool: Tool, words: readonly string[]) {
    this.#child = Bun.spawn([toolPath(tool), "--web.listen-address=127.0.0.1:0", ...words], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    void this.#read();
    void this.#child.exited.then(() => this.#address.reject(new Error(`${tool} ended: ${this.#said}`)));
    this.#address.promise.catch(() => {}); // nobody may wait when it is stopped
  }

  /** Host and port, once it listens. @throws Error with what it said when it ends */
  address(): Promise<string> {
    return this.#address.promise;
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) {
      this.#said = (this.#said + text).slice(-5000);
      const address = /"?Listening on"? address=(\S+)/.exec(this.#said)?.[1];
      if (address !== undefined) this.#address.resolve(address);
    }
  }
}
