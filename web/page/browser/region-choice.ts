const pauseMs = 1000; // browsers take letters that follow one another as fast as this for one name

/**
 * What is chosen in the region's picker. With the keyboard a closed picker changes at each letter of a name and at each
 * arrow: such a choice waits for a pause, or for Enter or the next control, so that the page does not change while
 * somebody types.
 */
export class RegionChoice {
  readonly #onChoice: (form: HTMLFormElement) => void;
  #isByKey = false;
  #waiting: { form: HTMLFormElement; timer: ReturnType<typeof setTimeout> } | null = null;

  constructor(onChoice: (form: HTMLFormElement) => void) {
    this.#onChoice = onChoice;
  }

  listen(): void {
    document.addEventListener("keydown", (event) => {
      this.#isByKey = event.key !== "Enter";
      if (this.#isByKey || this.#waiting === null) return;
      event.preventDefault(); // Chromium would open the picker
      this.end();
    });
    document.addEventListener("pointerdown", () => {
      this.#isByKey = false;
    });
    document.addEventListener("change", ({ target }) => this.#onChange(target));
    document.addEventListener("focusout", () => this.end());
    document.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#choose(event.target as HTMLFormElement);
    });
  }

  /** Takes at once what would have waited for a pause. */
  end(): void {
    const form = this.#waiting?.form;
    this.forget();
    if (form?.isConnected) this.#choose(form); // else the page of another address is shown meanwhile
  }

  /** Takes nothing of what waits for a pause. */
  forget(): void {
    clearTimeout(this.#waiting?.timer);
    this.#waiting = null;
  }

  #onChange(target: EventTarget | null): void {
    const form = target instanceof HTMLSelectElement ? target.form : null;
    if (form === null) return;
    this.forget();
    this.#waiting = { form, timer: setTimeout(() => this.end(), this.#isByKey ? pauseMs : 0) };
  }

  #choose(form: HTMLFormElement): void {
    this.forget();
    this.#onChoice(form);
  }
}
