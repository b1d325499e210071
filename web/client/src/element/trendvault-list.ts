import { ProblemError } from "../problem-error.ts";
import type { Connection } from "../requests/connection.ts";
import { explain } from "./explaining.ts";
import { isInUse } from "./in-use.ts";
import { type ListAttributes, observedAttributes, readAttributes } from "./list-attributes.ts";
import { dispatch, dispatchFailure } from "./list-events.ts";
import { ListPresenter } from "./list-presenter.ts";
import { ListReader } from "./list-reader.ts";
import { announceOpening } from "./opening.ts";
import { describeAge, failureOf, type List, type ReadList, readGivenList } from "./read-list.ts";
import { refreshDelay } from "./refresh-delay.ts";
import { ShownLooks } from "./shown-looks.ts";
import { VisibleTimer } from "./visible-timer.ts";

/** On a server there are no elements; a page that is rendered there may still import this. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/**
 * `<trendvault-list region="DE" limit="10">`: a list of trending videos. README.md describes its attributes, events,
 * parts and custom properties.
 */
export class TrendvaultList extends Base {
  static readonly observedAttributes = observedAttributes;
  /** The server of elements without `src`; "" is the page's own site. */
  static defaultSrc = "";

  /** How it connects, in place of the usual: pinned keys, another fetch(). Set it before the element is connected. */
  connection: Connection = {};

  #presenter: ListPresenter | null = null;
  #reader: ListReader | null = null;
  #pages: List[] = [];
  #shown: ReadList | null = null;
  #newer: ReadList | null = null;
  #next: Promise<boolean> | null = null;
  #failures = 0;
  #isReloadDue = false;
  readonly #looks = new ShownLooks(this);
  readonly #timer = new VisibleTimer(() => this.#refreshInTime());

  /** The page of the list that was shown last, or null. */
  get list(): List | null {
    return this.#pages.at(-1) ?? null;
  }

  connectedCallback(): void {
    if (this.#presenter === null) this.#prepareRoot();
    const given = this.hasAttribute("verify") ? null : readGivenList(this);
    if (this.#pages.length > 0) this.#setTimer(null);
    else if (given !== null) this.#adopt(given);
    else if (!this.#isManual) void this.load();
  }

  disconnectedCallback(): void {
    this.#timer.stop();
    this.#reader?.end();
    this.#reader = null;
    this.#looks.end();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (name === "verify" && before === null && after !== null) this.#forget(); // what is shown was not verified
    if (this.#presenter === null || this.#isManual || before === after || this.#isReloadDue) return;
    this.#isReloadDue = true;
    queueMicrotask(() => {
      this.#isReloadDue = false;
      if (this.isConnected) void this.load();
    });
  }

  /** Shows the first page of the list that the attributes name. @returns false when it failed: what was shown stays */
  async load(): Promise<boolean> {
    this.#reader?.end();
    this.#reader = null;
    const reader = this.#currentReader();
    const read = await this.#attempt(reader, () => reader.first({ isAgain: false }));
    return read !== null && this.#show(reader, read, { again: false });
  }

  /** Shows the page after the last one, too. @returns false when there is none, or it failed */
  loadNext(): Promise<boolean> {
    this.#next ??= this.#loadNext().finally(() => {
      this.#next = null;
    });
    return this.#next;
  }

  /** Asks whether there is a newer list. @returns true when there is; showNewer() shows it */
  async refresh(): Promise<boolean> {
    const reader = this.#currentReader();
    const read = await this.#attempt(reader, () => reader.first({ isAgain: true }));
    const first = this.#pages[0];
    if (read === null || first === undefined) return false;
    // By time, not by the generation's number: a database that was set up anew counts from 1 again.
    if (Date.parse(read.list.generated_at) <= Date.parse(first.generated_at)) {
      this.#shown = read;
      return false;
    }
    this.#newer = read;
    dispatch(this, "trendvault-newer", { list: read.list });
    return true;
  }

  /** Shows the newer list that refresh() has found. */
  showNewer(): void {
    if (this.#newer !== null) void this.#show(this.#currentReader(), this.#newer, { again: false });
  }

  #forget(): void {
    this.#looks.end();
    this.#presenter?.clear();
    this.#reader?.end();
    this.#reader = null;
    this.#pages = [];
    this.#shown = null;
    this.#newer = null;
  }

  get #isManual(): boolean {
    return this.hasAttribute("manual");
  }

  get #attributes(): ListAttributes {
    const { defaultSrc } = this.constructor as typeof TrendvaultList;
    return readAttributes((name) => this.getAttribute(name), { pageUrl: location.href, defaultSrc });
  }

  async #prepare(reader: ListReader, region: string | null): Promise<void> {
    const { thumbHosts: named, ownHost } = this.#attributes;
    const thumbHosts = named ?? [ownHost, ...(this.#isManual ? [] : await reader.thumbHosts())];
    await this.#presenter?.prepare({ lang: this.getAttribute("lang"), thumbHosts }, region);
  }

  #prepareRoot(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    this.#presenter = new ListPresenter(root);
    if (this.hasAttribute("verify")) this.#presenter.clear(); // what the server rendered was not verified
    for (const name of ["click", "auxclick"]) root.addEventListener(name, this.#onOpen);
    root.addEventListener("toggle", this.#onToggle, true); // it does not bubble
  }

  readonly #onOpen = (event: Event): void => announceOpening(this, this.#pages, event);

  readonly #onToggle = (event: Event): void => {
    if (this.list !== null) void explain(event, this.list, (path) => this.#currentReader().json(path));
  };

  #currentReader(): ListReader {
    const { src, path } = this.#attributes;
    const verify = this.hasAttribute("verify");
    this.#reader ??= new ListReader({ src, path, verify, connection: this.connection });
    return this.#reader;
  }

  #adopt(list: List): void {
    const read = { list, ...describeAge(list, new Headers()) };
    const isRendered = this.#presenter?.items.length === list.items.length;
    if (!isRendered) void this.#show(this.#currentReader(), read, { again: false });
    else this.#opened(read, { again: false });
  }

  async #loadNext(): Promise<boolean> {
    const page = this.list;
    if (page === null || page.next === null) return false;
    const reader = this.#currentReader();
    const result = await this.#attempt(reader, () => reader.after(page));
    if (result === null) return false;
    if (result.isRestart) return this.#show(reader, result.read, { again: false });
    const { list, state, ageSeconds } = result.read;
    await this.#prepare(reader, list.region);
    if (reader.isEnded) return false;
    const before = this.#presenter?.items.length ?? 0;
    this.#presenter?.append(list);
    this.#pages.push(list);
    this.#looks.begin(list, this.#presenter?.items.slice(before) ?? [], { src: this.#attributes.src });
    dispatch(this, "trendvault-list", { list, age: ageSeconds, state });
    return true;
  }

  async #show(reader: ListReader, read: ReadList, options: { again: boolean }): Promise<boolean> {
    await this.#prepare(reader, read.list.region);
    if (reader.isEnded) return false;
    this.#looks.end();
    this.#presenter?.show(read.list);
    this.#opened(read, options);
    return true;
  }

  /** A first page is shown now. */
  #opened(read: ReadList, { again }: { again: boolean }): void {
    const { list, state, ageSeconds } = read;
    this.#pages = [list];
    this.#shown = read;
    this.#newer = null;
    this.#failures = 0;
    this.#looks.begin(list, this.#presenter?.items ?? [], { src: this.#attributes.src, again });
    this.#setTimer(null);
    this.#describe();
    dispatch(this, "trendvault-list", { list, age: ageSeconds, state });
  }

  #describe(): void {
    if (this.#isManual || this.#shown === null) return;
    this.#presenter?.describe(this.#shown, this.#attributes.src);
  }

  /** What reading gives, or null when it failed, which is told, or is of no use any more. */
  async #attempt<T>(reader: ListReader, read: () => Promise<T>): Promise<T | null> {
    try {
      const result = await read();
      return reader.isEnded ? null : result;
    } catch (error) {
      if (!reader.isEnded) await this.#fail(error);
      return null;
    }
  }

  async #fail(error: unknown): Promise<void> {
    this.#failures++;
    this.#setTimer(error instanceof ProblemError ? error.retryAfterSeconds : null);
    const state = failureOf(error);
    dispatchFailure(this, state, error);
    if (this.#isManual) return;
    const ageSeconds = this.#shown === null ? null : describeAge(this.#shown.list, new Headers()).ageSeconds;
    const look = { lang: this.getAttribute("lang"), thumbHosts: [] };
    await this.#presenter?.prepare(look, this.getAttribute("region"));
    this.#presenter?.noticeFailure(state, { ageSeconds, run: () => void this.load() });
  }

  #setTimer(retryAfterSeconds: number | null): void {
    if (this.#isManual || !this.isConnected) return;
    const freshSeconds = this.#shown?.freshSeconds ?? 0;
    this.#timer.set(
      refreshDelay({ freshSeconds, failures: this.#failures, retryAfterSeconds }, Math.random()),
    );
  }

  async #refreshInTime(): Promise<void> {
    if (this.#shown === null) return void this.load();
    const failures = this.#failures;
    const isNewer = await this.refresh();
    if (this.#failures > failures || !this.isConnected) return;
    this.#failures = 0;
    this.#setTimer(null);
    if (!isNewer || this.#newer === null) this.#describe();
    else if (isInUse(this, { pages: this.#pages.length }))
      this.#presenter?.notice("newer", { run: () => this.showNewer() });
    else await this.#show(this.#currentReader(), this.#newer, { again: true });
  }
}
