import type { BundleCounts } from "./bundle-file.ts";

const intervalMs = 1000;

/** Says how far a rendering is, once a second. */
export class Progress {
  readonly #say: (text: string) => void;
  readonly #started = performance.now();
  #saidAt = this.#started;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  readonly report = ({ documents, bytes }: BundleCounts): void => {
    const now = performance.now();
    if (now - this.#saidAt < intervalMs) return;
    this.#saidAt = now;
    const seconds = ((now - this.#started) / 1000).toFixed(1);
    this.#say(`${documents} documents, ${(bytes / 1e6).toFixed(1)} MB in ${seconds} s`);
  };
}
