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
  lang: string | null;
  reportUrl: string | null;
  verify: boolean;
};

type Reader = ListReader<ListAttributes>;

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
  const ownHost = hostOf(src || pageUrl, pageUrl);
  const look = { lang: read("lang"), reportUrl: read("report-url") };
  return {
    src,
    path: `/api/trending?${query}`,
    thumbHosts,
    ownHost,
    ...look,
    verify: read("verify") !== null,
  };
}

/** Empty where there is none: such an address is refused when it is asked. Browsers of early 2023 lack URL.canParse. */
function hostOf(url: string, base: string): string {
  try {
    return new URL(url, base).host;
  } catch {
    return "";
  }
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
  /** Of the list that is shown, with the attributes that it was asked for with. */
  #reader: Reader | null = null;
  /** Of one that takes its place. */
  #loading: Reader | null = null;
  #pages: List[] = [];
  #shown: ReadList | null = null;
  /** While no list is shown. */
  #state: Failure | "loading" | null = null;
  #newer: ReadList | null = null;
  #next: { page: List | null; wanted: (() => boolean)[]; isShown: Promise<boolean> } | null = null;
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
    if (this.#reader !== null && (this.#isManual || this.#isShown)) this.#setTimer(null);
    else if (this.#reader === null && given !== null) this.#adopt(given);
    else if (!this.#isManual) void this.load();
  }

  disconnectedCallback(): void {
    this.#timer.stop();
    this.#loading?.end();
    this.#reader?.end();
    if (this.#reader !== null) this.#reader = new ListReader(this.#reader.asked, this.connection); // of the same list
    // A page that moves it puts it in again at once.
    queueMicrotask(() => this.isConnected || this.#impressions.end());
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

  /**
   * Shows the first page of the list that the attributes name, unless it is not `isWanted` any more once it is there.
   *
   * @returns whether it is shown: false when it failed, and what was shown stays
   */
  async load(isWanted: () => boolean = () => true): Promise<boolean> {
    const reader = this.#begin();
    this.#wait(reader);
    const read = await this.#attempt(reader, () => reader.first({ isAgain: false }));
    return read !== null && this.#show(reader, read, { isWanted });
  }

  /**
   * Shows the page after the last one, too, unless it is not `isWanted` any more once it is there.
   *
   * @returns whether it is shown: false when there is none, or it failed
   */
  loadNext(isWanted: () => boolean = () => true): Promise<boolean> {
    const page = this.list;
    if (this.#next?.page !== page) {
      const wanted: (() => boolean)[] = []; // by one of those that wait for it
      this.#next = { page, wanted, isShown: this.#loadNext(() => wanted.some((isWanted) => isWanted())) };
    }
    const next = this.#next;
    next.wanted.push(isWanted);
    return next.isShown.finally(() => {
      if (this.#next === next) this.#next = null;
    });
  }

  /** Asks whether there is a newer one of the list that is shown. @returns true when there is; showNewer() shows it */
  async refresh(): Promise<boolean> {
    const reader = this.#reader;
    const first = this.#pages[0];
    if (reader === null || first === undefined) return false;
    const read = await this.#attempt(reader, () => reader.first({ isAgain: true }));
    if (read === null || this.#pages[0] !== first) return false;
    // By time, not by the generation's number: a database that was set up anew counts from 1 again.
    if (Date.parse(read.list.generated_at) <= Date.parse(first.generated_at)) {
      this.#shown = { ...read, list: first };
      return false;
    }
    this.#newer = read;
    dispatch(this, "trendvault-newer", { list: read.list });
    return true;
  }

  /** Shows the newer list that refresh() has found. */
  showNewer(): void {
    if (this.#reader !== null && this.#newer !== null) void this.#show(this.#reader, this.#newer);
  }

  /** What is asked for from now on takes the place of what is shown, and of what was to do so. */
  #begin(): Reader {
    this.#loading?.end();
    this.#loading = new ListReader(this.#attributes, this.connection);
    return this.#loading;
  }

  /** Whether what is shown is what the attributes say. */
  get #isShown(): boolean {
    return JSON.stringify(this.#reader?.asked) === JSON.stringify(this.#attributes);
  }

  /** Holds the space of the list while there is nothing else to show. */
  #wait(reader: Reader): void {
    if (this.#shown !== null) return;
    this.#state = "loading";
    if (this.#isManual || this.#presenter === null) return;
    const count = Math.min(Math.max(Number(this.getAttribute("limit")) || 10, 1), 100);
    const presenter = this.#presenter;
    presenter.wait(count);
    this.#words(reader).then(
      (use) => {
        if (reader.isEnded || this.#shown !== null) return;
        use();
        presenter.sayWaiting();
      },
      () => {}, // it says nothing, then
    );
  }

  #forget(): void {
    this.#impressions.end();
    this.#presenter?.clear();
    this.#loading?.end();
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

  /** @returns what makes all that is shown next appear as the attributes said when it was asked for */
  async #prepare(reader: Reader, region: string | null): Promise<() => void> {
    const { thumbHosts: named, ownHost } = reader.asked;
    const thumbHosts = named ?? [
      ownHost,
      ...((!this.#isManual && (await reader.about())?.thumb_hosts) || []),
    ];
    return this.#words(reader, { region, thumbHosts });
  }

  /** The same for what has no pictures. */
  async #words(
    reader: Reader,
    { region = this.getAttribute("region"), thumbHosts = [] as readonly string[] } = {},
  ): Promise<() => void> {
    const { lang, reportUrl } = reader.asked;
    const askWords = async (tag: string) => this.words[tag] ?? (await reader.about())?.languages?.[tag];
    const use = await this.#presenter?.prepare({ lang, reportUrl, thumbHosts, askWords }, region);
    return use ?? (() => {});
  }

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
    const reader = this.#reader;
    if (reader === null) return;
    const explanation = await reader.json<Explanation>(path, "sentences");
    const use = await this.#prepare(reader, region);
    if (reader.isEnded) return;
    use();
    await this.#presenter?.explain(explanation, into);
  }

  #adopt(list: List): void {
    const read = { list, ...describeAge(list, new Headers()) };
    const isRendered = this.#presenter?.items.length === list.items.length;
    const reader = this.#begin();
    if (isRendered && this.#isManual) this.#opened(reader, read);
    else void this.#show(reader, read, { isRendered });
  }

  async #loadNext(isWanted: () => boolean): Promise<boolean> {
    const page = this.list;
    const reader = this.#reader;
    if (reader === null || page === null || page.next === null) return false;
    const result = await this.#attempt(reader, () => reader.after(page));
    if (result === null) return false;
    const isStillWanted = () => this.list === page && isWanted();
    if (result.isRestart) return this.#show(reader, result.read, { isWanted: isStillWanted });
    const { list, state, ageSeconds } = result.read;
    const use = await this.#prepare(reader, list.region);
    if (reader.isEnded || !isStillWanted()) return false;
    use();
    if (this.#shown !== null && state !== "live") this.#shown.state = state;
    const before = this.#presenter?.items.length ?? 0;
    this.#presenter?.append(list);
    this.#pages.push(list);
    this.#impressions.begin(list, this.#presenter?.items.slice(before) ?? [], { src: reader.asked.src });
    dispatch(this, "trendvault-list", { list, age: ageSeconds, state });
    return true;
  }

  /** `isRendered`: its items are there already. */
  async #show(
    reader: Reader,
    read: ReadList,
    { again = false, isRendered = false, isWanted = (): boolean => true } = {},
  ): Promise<boolean> {
    const isShown = await this.#attempt(reader, async () => {
      const use = await this.#prepare(reader, read.list.region);
      if (reader.isEnded || !isWanted()) return false;
      use();
      if (!isRendered) this.#presenter?.show(read.list);
      this.#opened(reader, read, { again });
      return true;
    });
    return isShown ?? false;
  }

  /** A first page is shown now. */
  #opened(reader: Reader, read: ReadList, { again = false } = {}): void {
    const { list, state, ageSeconds } = read;
    if (this.#reader !== reader) this.#reader?.end();
    if (this.#loading === reader) this.#loading = null;
    this.#reader = reader;
    this.#pages = [list];
    this.#shown = read;
    this.#newer = null;
    this.#failures = 0;
    this.#impressions.end();
    this.#impressions.begin(list, this.#presenter?.items ?? [], { src: reader.asked.src, again });
    this.#setTimer(null);
    this.#describe();
    // What was opened before this script was there.
    for (const target of this.shadowRoot?.querySelectorAll("details[open]") ?? []) this.#onToggle({ target });
    dispatch(this, "trendvault-list", { list, age: ageSeconds, state });
  }

  #describe(): void {
    if (this.#isManual || this.#shown === null || this.#reader === null) return;
    this.#presenter?.describe(this.#shown, this.#reader.asked.src);
  }

  /** What reading gives, or null when it failed, which is told, or is of no use any more. */
  async #attempt<T>(reader: Reader, read: () => Promise<T>): Promise<T | null> {
    try {
      const result = await read();
      return reader.isEnded ? null : result;
    } catch (error) {
      if (!reader.isEnded) await this.#fail(reader, error);
      return null;
    }
  }

  async #fail(reader: Reader, error: unknown): Promise<void> {
    this.#failures++;
    this.#setTimer(error instanceof ProblemError ? error.retryAfterSeconds : null);
    const state = failureOf(error);
    if (this.#shown === null) this.#state = state;
    dispatchFailure(this, state, error);
    if (this.#isManual) return;
    if (state === "refused") console.error(`<${name}>: ${(error as Error).message}`);
    this.#presenter?.giveUp();
    if (this.#shown === null) {
      const look = { lang: reader.asked.lang, thumbHosts: [] };
      try {
        const use = await this.#presenter?.prepare(look, this.getAttribute("region"));
        if (reader.isEnded) return;
        use?.();
      } catch {
        return; // the words cannot be loaded either
      }
    }
    // Of another list there is nothing to say but that it is not there.
    const shown = this.#isShown ? this.#shown : null;
    this.#presenter?.noticeFailure(state, { shown, run: () => void this.load() });
  }

  #setTimer(retryAfterSeconds: number | null): void {
    if (this.#isManual || !this.isConnected) return;
    const freshSeconds = this.#shown?.freshSeconds ?? 0;
    this.#timer.set(
      refreshDelay({ freshSeconds, failures: this.#failures, retryAfterSeconds }, Math.random()),
    );
  }

  async #refreshInTime(): Promise<void> {
    if (!this.#isShown) return void this.load();
    const failures = this.#failures;
    const isNewer = await this.refresh();
    if (this.#failures > failures || !this.isConnected) return;
    this.#failures = 0;
    this.#setTimer(null);
    if (!isNewer || this.#newer === null) this.#describe();
    else if (isInUse(this, { pages: this.#pages.length }))
      this.#presenter?.notice("newer", { run: () => this.showNewer() });
    else if (this.#reader !== null) await this.#show(this.#reader, this.#newer, { again: true });
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
