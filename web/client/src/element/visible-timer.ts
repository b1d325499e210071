/** Runs something once when its time has come and the page is visible: a page in the background asks for nothing. */
export class VisibleTimer {
  readonly #run: () => void;
  #dueAt: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(run: () => void) {
    this.#run = run;
  }

  /** Instead of what was set before. */
  set(seconds: number): void {
    this.stop();
    this.#dueAt = Date.now() + seconds * 1000;
    document.addEventListener("visibilitychange", this.#wake);
    this.#wake();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#dueAt = null;
    document.removeEventListener("visibilitychange", this.#wake);
  }

  readonly #wake = (): void => {
    clearTimeout(this.#timer);
    if (this.#dueAt === null || document.visibilityState === "hidden") return;
    this.#timer = setTimeout(this.#fire, Math.max(0, this.#dueAt - Date.now()));
  };

  readonly #fire = (): void => {
    this.stop();
    this.#run();
  };
}
