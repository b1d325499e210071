import { defaultWindow, listKinds } from "@trendvault/contract/lists";
import type { Explanation, TrendingParameters } from "@trendvault/contract/responses";
import type { Connection } from "../connection.ts";
import { ProblemError, restartOf } from "../problem-error.ts";
import { reportImpressions } from "../report-impressions.ts";
import { ListPresenter } from "./list-presenter.ts";
import {
  describeAge,
  type Failure,
  failureOf,
  type List,
  ListReader,
  type ListState,
  type ReadList,
  readGivenList,
} from "./list-reader.ts";

/** What the attributes of the element say. */
type ListAttributes = {
  /** The address of the edge or the origin; "" is the page's own site. */
  src: string;
  /** The path and query of the list's first page. */
  path: string;
  /** Hosts (with their port, when it is not the scheme's) whose pictures are shown; null: those that the server names. */
  thumbHosts: string[] | null;
  /** The server's own host. */
  ownHost: string;
};

const parameters = ["region", "window", "category", ...Object.keys(listKinds), "titles", "fields", "limit"];
const defaults: Record<string, string> = { fields: "chart", limit: "10" };

const observedAttributes = [...parameters, "lang", "src", "thumb-hosts", "report-url", "verify"];

/** `read` gives an attribute; `pageUrl` is the page's address, `defaultSrc` that of the element's own script, if known. */
export function readAttributes(
  read: (name: string) => string | null,
  { pageUrl, defaultSrc }: { pageUrl: string; defaultSrc: string },
): ListAttributes {
  const src = (read("src") ?? defaultSrc).replace(/\/+$/, "");
  const query = new URLSearchParams();
  for (const name of parameters) {
    const value = read(name) ?? defaults[name] ?? "";
    if (value !== "") query.append(name, value);
  }
  const thumbHosts =
    read("thumb-hosts")
      ?.split(/[\s,]+/)
      .filter(Boolean) ?? null;
  const ownHost = new URL(src || pageUrl, pageUrl).host;
  return { src, path: `/api/trending?${query}`, thumbHosts, ownHost };
}

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
  /** Words of languages that are not built in, by tag; the server is asked for others. */
  words: Record<string, object | null> = {};

  #presenter: ListPresenter | null = null;
  #reader: ListReader | null = null;
  #pages: List[] = [];
  #shown: ReadList | null = null;
  /** While no list is shown. */
  #state: Failure | "loading" | null = null;
  #newer: ReadList | null = null;
  #next: { page: List | null; isShown: Promise<boolean> } | null = null;
  #failures = 0;
  #isReloadDue = false;
  readonly #impressions = new ShownImpressions(this);
  readonly #timer = new VisibleTimer(() => this.#refreshInTime());

  /** What is shown: a list, that one is loading, or why there is none; null before anything was asked for. */
  get state(): ListState | Failure | "loading" | null {
    if (this.#shown === null) return this.#state;
    const { state, list } = this.#shown;
    return state === "live" ? describeAge(list, new Headers()).state : state;
  }

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
    this.#impressions.end();
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
    this.#wait();
    const read = await this.#attempt(reader, () => reader.first({ isAgain: false }));
    if (read === null && this.#reader === reader) this.#reader = null; // what is shown may be another list
    return read !== null && this.#show(reader, read, { again: false });
  }

  /**
   * Shows the page after the last one, too, unless it is not `isWanted` any more once it is there.
   *
   * @returns whether it is shown: false when there is none, or it failed
   */
  loadNext(isWanted: () => boolean = () => true): Promise<boolean> {
    if (this.#next?.page !== this.list) this.#next = null; // it belongs to a list that is not shown any more
    this.#next ??= { page: this.list, isShown: this.#loadNext(isWanted) };
    const next = this.#next;
    return next.isShown.finally(() => {
      if (this.#next === next) this.#next = null;
    });
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

  /** Holds the space of the list while there is nothing else to show. */
  #wait(): void {
    if (this.#shown !== null) return;
    this.#state = "loading";
    if (this.#isManual || this.#presenter === null) return;
    const count = Math.min(Math.max(Number(this.getAttribute("limit")) || 10, 1), 100);
    const look = { lang: this.getAttribute("lang"), thumbHosts: [], askWords: this.#askWords };
    this.#presenter.wait(count, look, this.getAttribute("region")).catch(() => {}); // it says nothing, then
  }

  #forget(): void {
    this.#impressions.end();
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
    const thumbHosts = named ?? [
      ownHost,
      ...((!this.#isManual && (await reader.about())?.thumb_hosts) || []),
    ];
    const look = { lang: this.getAttribute("lang"), reportUrl: this.getAttribute("report-url"), thumbHosts };
    await this.#presenter?.prepare({ ...look, askWords: this.#askWords }, region);
  }

  readonly #askWords = async (tag: string) =>
    this.words[tag] ?? (await this.#currentReader().about())?.languages?.[tag];

  #prepareRoot(): void {
    const root = this.shadowRoot ?? this.#attachGiven();
    this.#presenter = new ListPresenter(root);
    if (this.hasAttribute("verify")) this.#presenter.clear(); // what the server rendered was not verified
    for (const name of ["click", "auxclick"]) root.addEventListener(name, this.#onOpen);
    root.addEventListener("toggle", this.#onToggle, true); // it does not bubble
  }

  /** With what the server rendered: Firefox takes a template for a shadow root from 123 on. */
  #attachGiven(): ShadowRoot {
    const root = this.attachShadow({ mode: "open" });
    const given = this.querySelector<HTMLTemplateElement>(":scope > template[shadowrootmode]");
    if (given !== null) root.append(given.content);
    return root;
  }

  readonly #onOpen = (event: Event): void => dispatchOpen(this, this.#pages, event);

  readonly #onToggle = ({ target }: Pick<Event, "target">): void => {
    const { list } = this;
    if (list !== null) void explain(target as Element, list, (path, into) => this.#explain(list, path, into));
  };

  async #explain({ region }: List, path: string, into: Element): Promise<void> {
    const reader = this.#currentReader();
    const explanation = await reader.json<Explanation>(path, "sentences");
    await this.#prepare(reader, region);
    await this.#presenter?.explain(explanation, into);
  }

  #currentReader(): ListReader {
    const { src, path } = this.#attributes;
    const verify = this.hasAttribute("verify");
    this.#reader ??= new ListReader({ src, path, verify, connection: this.connection });
    return this.#reader;
  }

  #adopt(list: List): void {
    const read = { list, ...describeAge(list, new Headers()) };
    const isRendered = this.#presenter?.items.length === list.items.length;
    const reader = this.#currentReader();
    if (!isRendered) void this.#show(reader, read, { again: false });
    else if (this.#isManual) this.#opened(read, { again: false });
    else
      void this.#attempt(reader, async () => {
        await this.#prepare(reader, list.region);
        if (!reader.isEnded) this.#opened(read, { again: false });
      });
  }

  async #loadNext(isWanted: () => boolean): Promise<boolean> {
    const page = this.list;
    if (page === null || page.next === null) return false;
    const reader = this.#currentReader();
    const result = await this.#attempt(reader, () => reader.after(page));
    if (result === null) return false;
    if (result.isRestart) return this.#show(reader, result.read, { again: false });
    const { list, state, ageSeconds } = result.read;
    await this.#prepare(reader, list.region);
    // It may have been asked for while another list was loading, which is shown now.
    if (reader.isEnded || this.list !== page || !isWanted()) return false;
    if (this.#shown !== null && state !== "live") this.#shown.state = state;
    const before = this.#presenter?.items.length ?? 0;
    this.#presenter?.append(list);
    this.#pages.push(list);
    this.#impressions.begin(list, this.#presenter?.items.slice(before) ?? [], { src: this.#attributes.src });
    dispatch(this, "trendvault-list", { list, age: ageSeconds, state });
    return true;
  }

  async #show(reader: ListReader, read: ReadList, options: { again: boolean }): Promise<boolean> {
    const isShown = await this.#attempt(reader, async () => {
      await this.#prepare(reader, read.list.region);
      if (reader.isEnded) return false;
      this.#presenter?.show(read.list);
      return true;
    });
    if (!isShown) return false;
    this.#impressions.end();
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
    this.#impressions.begin(list, this.#presenter?.items ?? [], { src: this.#attributes.src, again });
    this.#setTimer(null);
    this.#describe();
    // What was opened before this script was there.
    for (const target of this.shadowRoot?.querySelectorAll("details[open]") ?? []) this.#onToggle({ target });
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
    if (this.#shown === null) this.#state = state;
    dispatchFailure(this, state, error);
    if (this.#isManual) return;
    if (state === "refused") console.error(`<${name}>: ${(error as Error).message}`);
    this.#presenter?.giveUp();
    const look = { lang: this.getAttribute("lang"), thumbHosts: [] };
    try {
      await this.#presenter?.prepare(look, this.getAttribute("region"));
    } catch {
      return; // the words cannot be loaded either
    }
    this.#presenter?.noticeFailure(state, { shown: this.#shown, run: () => void this.load() });
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

/** What the element tells the page. All bubble and leave shadow trees. */
export type TrendvaultListEvents = {
  /** A visitor opens a video. preventDefault() keeps the browser from following the link. */
  "trendvault-open": { id: string; rank: number; url: string };
  /** A list, or a further page of it, is shown. `age` is in seconds. */
  "trendvault-list": { list: List; age: number; state: ListState };
  /** A newer list is there: showNewer() shows it. */
  "trendvault-newer": { list: List };
  /** Nothing new could be read; what was shown stays. `restart` is the address of the newest list, where one was deleted. */
  "trendvault-failure": { state: Failure; error: unknown; restart?: string };
};

/** @returns whether the page has left it to the element to go on */
function dispatch<Name extends keyof TrendvaultListEvents>(
  element: EventTarget,
  name: Name,
  detail: TrendvaultListEvents[Name],
): boolean {
  const options = { detail, bubbles: true, composed: true, cancelable: name === "trendvault-open" };
  return element.dispatchEvent(new CustomEvent(name, options));
}

/** Tells that nothing new could be read. */
function dispatchFailure(element: EventTarget, state: Failure, error: unknown): void {
  const restart = restartOf(error);
  dispatch(element, "trendvault-failure", { state, error, ...(restart !== null && { restart }) });
}

/** The attributes of <trendvault-list>, as frameworks set them. */
export type ElementAttributes = {
  region?: TrendingParameters["region"];
  window?: TrendingParameters["window"];
  category?: string;
  /** Of the videos: the primary subtag (BCP 47); not beside `category`. */
  language?: string;
  audience?: string;
  live?: string;
  duration?: string;
  /** A language of the page: titles are in it where a video has one. */
  titles?: string;
  limit?: number | string;
  fields?: TrendingParameters["fields"];
  /** A language of ours (BCP 47); else the region's. */
  lang?: string;
  /** The address of the server; else the page's own site. */
  src?: string;
  /** Hosts of pictures that are shown, separated by spaces; else the server's. */
  "thumb-hosts"?: string;
  /** Where a visitor reports a video: an https URL, with `{id}` for its id. */
  "report-url"?: string;
  verify?: boolean | "";
  views?: boolean | "";
  manual?: boolean | "";
};

/** A property for each event: its name after a prefix. */
export type ElementListeners<Prefix extends string> = {
  [Name in keyof TrendvaultListEvents as `${Prefix}${Name}`]?: (
    event: CustomEvent<TrendvaultListEvents[Name]>,
  ) => void;
};

const name = "trendvault-list";

/** Defines <trendvault-list>, once for a page; on a server it does nothing. */
export function defineList(): void {
  const { customElements } = globalThis;
  if (customElements !== undefined && customElements.get(name) === undefined) {
    customElements.define(name, TrendvaultList);
  }
}

/** Tells the page that a click of the left or the middle button opens a video; the page may keep it from opening. */
function dispatchOpen(element: HTMLElement, pages: readonly List[], event: Event): void {
  if (event.type === "auxclick" && (event as MouseEvent).button !== 1) return;
  const link = (event.target as Element).closest<HTMLAnchorElement>("li a[href]");
  const rank = Number(link?.closest("li")?.getAttribute("data-rank"));
  const item = pages.flatMap(({ items }) => items).find((candidate) => candidate.rank === rank);
  if (link === null || item === undefined) return;
  const goesOn = dispatch(element, "trendvault-open", { id: item.id, rank, url: link.href });
  if (!goesOn) event.preventDefault();
}

/** Says why a video is where it is, once its "why here" was opened for the first time. */
async function explain(
  details: Element,
  { region, window }: Pick<List, "region" | "window">,
  write: (path: string, into: Element) => Promise<void>,
): Promise<void> {
  const text = details.querySelector(".explanation");
  const id = details.getAttribute("data-id");
  if (!details.hasAttribute("open") || id === null || text === null || text.hasAttribute("lang")) return;
  try {
    const query = `region=${region}${window === defaultWindow ? "" : `&window=${window}`}`;
    await write(`/api/videos/${id}/explain?${query}`, text);
  } catch {
    // It is read again when it is opened again.
  }
}

/** Whether a visitor would lose something when another list took the place of the `pages` that an element shows. */
function isInUse(element: HTMLElement, { pages }: { pages: number }): boolean {
  const isOpen = element.shadowRoot?.querySelector("details[open]") !== null;
  return pages > 1 || isOpen || element.matches(":hover, :focus-within");
}

/** How refreshing has gone so far. */
type RefreshHistory = {
  /** For how long the last list is fresh. */
  freshSeconds: number;
  /** How many refreshes have failed since one did not. */
  failures: number;
  /** What the server asked for with the last failure, or null. */
  retryAfterSeconds: number | null;
};

const shortestSeconds = 60; // a list is made every minute
const longestSeconds = 900;
const longestAskedSeconds = 86_400; // what a server may ask for: a timer that is set for 25 days runs at once

/**
 * When to ask for a newer list, in seconds from now: when this one's lifetime is over, but not before a minute; after
 * failures twice as long each time, up to a quarter of an hour, and never sooner than the server asks for. Up to a
 * quarter is added (`random` is 0 to 1), so that pages that were opened together do not ask together. No field of an answer
 * makes it wait for less than a minute or more than a day or so: none of those is signed.
 */
export function refreshDelay(
  { freshSeconds, failures, retryAfterSeconds }: RefreshHistory,
  random: number,
): number {
  const usual = freshSeconds > shortestSeconds ? Math.min(freshSeconds, longestSeconds) : shortestSeconds;
  const backoff = Math.min(usual * 2 ** failures, longestSeconds);
  const asked = Math.min(retryAfterSeconds || 0, longestAskedSeconds);
  return Math.max(backoff, asked) * (1 + random / 4);
}

/** Reports impressions and clicks of the pages that an element shows, when it has the attribute `views`. */
class ShownImpressions {
  readonly #element: HTMLElement;
  #ends: (() => void)[] = [];

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /** A page is shown from now on, by these elements. `again`: in place of an older list, and not because the visitor asked. */
  begin(list: List, elements: Element[], { src, again = false }: { src: string; again?: boolean }): void {
    if (!this.#element.hasAttribute("views")) return;
    this.#ends.push(reportImpressions(list, elements, { url: `${src}/api/views`, again }));
  }

  /** None of them is shown any more. */
  end(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}

/** Runs something once when its time has come and the page is visible: a page in the background asks for nothing. */
class VisibleTimer {
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
