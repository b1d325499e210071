import { defaultWindow } from "@trendvault/contract/lists";
import { type PageLanguage, type PageQuery, pageLanguageOf, pageUrl } from "@trendvault/contract/page";
import { paths } from "@trendvault/contract/paths";
import { regions, useRegions } from "@trendvault/contract/regions";
import { defineList } from "../client/src/element/trendvault-list.ts";
import type { Failure, TrendvaultList } from "../client/src/element.ts"; // also the type of its tag and events
import { toDom } from "../client/src/view/dom.ts";
import { loadMessages } from "../client/src/view/locales/load-page.ts";
import { fill, formatsOf } from "../client/src/view/locales/locale.ts";
import { h, type ViewElement } from "../client/src/view/nodes.ts";
import { keptAddress, offlineCache } from "./offline.ts";
import { type PageData, pageParts, type Shell } from "./page-view.ts";

type Parts = { list: TrendvaultList; notice: Element; data: PageData };

const refreshSeconds = 60;
const pagesByThemselves = 3; // further ones are shown when they are asked for, so that the foot can be reached
const framesToSettle = 6;
const oldSeconds = 150; // a fresh page is younger: longer than caches keep it, it is asked at once whether there is a newer one, and when a visitor comes back

/** The page with its scripts: pickers without reload, further ranks, newer lists, and what is said when something fails. */
class LivePage {
  readonly #list: TrendvaultList;
  readonly #data: PageData;
  readonly #notice: Notice;
  readonly #page: ShownPage;
  readonly #nearEnd = new IntersectionObserver((entries) => void this.#onNearEnd(entries), {
    rootMargin: "800px",
  });
  readonly #choice = new RegionChoice((form) => this.#onChoice(form));
  /** What an address without a region names. */
  readonly #region: string;
  /** Of the list that is shown. */
  #shown: Shell | undefined;
  #turn = 0;
  #isLoading = false;
  #shownByThemselves = 0;
  #isMoreAsked = false;
  /** Whether the list is that of the address. */
  #isSettled = true;
  #retry = () => void this.#refresh();

  constructor({ list, notice, data }: Parts) {
    this.#list = list;
    this.#region = list.getAttribute("region") ?? "";
    list.words = data.words ?? {};
    this.#data = data;
    this.#notice = new Notice(notice);
    this.#page = new ShownPage(list);
  }

  async start(): Promise<void> {
    history.scrollRestoration = "manual"; // further ranks have to be there first
    useRegionsOf(this.#data);
    const shell = await readShell(this.#queryOf(new URL(location.href)), this.#data);
    this.#shown = shell;
    this.#listen();
    if (!document.getElementById("share")) replace("foot", pageParts.foot(shell)); // now there is an address
    this.#page.showAge(shell);
    this.#watchEnd();
    void this.#restorePlace();
    setInterval(() => this.#shown && this.#page.showAge(this.#shown), 30_000);
    setInterval(() => document.visibilityState === "visible" && void this.#refresh(), refreshSeconds * 1000);
    if (!navigator.onLine) this.#sayFailure("offline");
    else this.#refreshOld();
  }

  #refreshOld(): void {
    if (document.visibilityState === "visible" && this.#page.ageSeconds > oldSeconds) void this.#refresh();
  }

  #listen(): void {
    document.addEventListener("click", (event) => this.#onClick(event));
    document.addEventListener("toggle", () => this.#showShared(), true);
    if (document.querySelector("#share[open]")) this.#showShared(); // before this script was there
    this.#choice.listen(this.#list.getAttribute("region"));
    let timer: ReturnType<typeof setTimeout>;
    addEventListener("scroll", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#keepPlace(), 100); // browsers allow it a few times a second
    });
    addEventListener("pagehide", () => this.#keepPlace());
    addEventListener("popstate", () => {
      clearTimeout(timer);
      // Only the fragment has changed: a link within the page.
      if (this.#isShown(new URL(location.href)) && this.#isSettled) return void this.#restorePlace();
      this.#choice.forget();
      void this.#go(new URL(location.href), { isNew: false });
    });
    addEventListener("offline", () => this.#sayFailure("offline"));
    addEventListener("online", () => void this.#refresh());
    document.addEventListener("visibilitychange", () => this.#refreshOld());
    this.#list.addEventListener("trendvault-list", () => this.#onList());
    this.#list.addEventListener("trendvault-newer", () => this.#sayNewer());
    this.#list.addEventListener("trendvault-failure", ({ detail }) => this.#sayFailure(detail.state));
  }

  /** Shows what this browser can do with the page's link, too. */
  #showShared(): void {
    if (this.#shown) replace("shared", pageParts.share(this.#shown));
  }

  #onClick(event: MouseEvent): void {
    this.#keepPlace(); // also of a link to another page, which may be gone before it could be kept
    const target = event.target instanceof Element ? event.target : null;
    const shared = target?.closest<HTMLButtonElement>("#shared button");
    if (shared) void share(shared, this.#shown).catch(() => {}); // what is to be copied is selected all the same
    const link = target?.closest("a") ?? null;
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (link === null || !isPlain || event.defaultPrevented) return;
    if (link.rel === "next") void this.#showMore();
    else if (link.hasAttribute("data-pick")) void this.#go(new URL(link.href), { isNew: true });
    else return;
    event.preventDefault();
  }

  #onChoice(form: HTMLFormElement): void {
    const search = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
    void this.#go(new URL(`/?${search}`, location.href), { isNew: true });
  }

  /** Shows the page of a URL. When its list cannot be read, the page stays as it was. */
  async #go(url: URL, { isNew }: { isNew: boolean }): Promise<void> {
    if (isNew) this.#keepPlace();
    const turn = ++this.#turn;
    const language = pageLanguageOf(this.#queryOf(url));
    if (this.#data.words?.[language] === null) return location.assign(url); // its words come with it
    this.#isSettled = false;
    this.#isLoading = true;
    const isShown = await this.#replaceList(url, { isNew, turn });
    if (turn !== this.#turn) return;
    this.#isLoading = false;
    this.#retry = () => void (isShown ? this.#refresh() : this.#go(url, { isNew }));
    this.#isSettled = this.#isShown(new URL(location.href));
    if (isShown && isNew) scrollTo(0, 0);
    else if (isShown) await this.#restorePlace();
  }

  /** @returns whether the list of the URL is shown */
  async #replaceList(url: URL, { isNew, turn }: { isNew: boolean; turn: number }): Promise<boolean> {
    const query = this.#queryOf(url);
    const isWanted = () => turn === this.#turn;
    const shell = await readShell(query, this.#data).catch(() => null);
    if (!isWanted()) return false;
    if (shell === null) this.#sayFailure(navigator.onLine ? "unavailable" : "offline");
    else this.#setAttributes(shell);
    const isShown = shell !== null && (await this.#list.load(isWanted));
    if (!isWanted() || this.#shown === undefined) return false;
    if (isShown) {
      this.#shown = shell;
      this.#shownByThemselves = 0;
      if (isNew) history.pushState({ count: 0, id: "", top: 0, y: 0 } satisfies Place, "", pageUrl(query));
      this.#sayState();
    } else this.#setAttributes(this.#shown);
    this.#choice.end(); // a choice that was made while the list was loading would be lost with the picker of before
    this.#page.showShell(this.#shown); // where nothing new is shown, for the control that was used
    this.#watchEnd();
    return isShown;
  }

  /** Keeps with the entry of the browser's history where in the list the visitor is. */
  #keepPlace(): void {
    if (this.#isSettled) history.replaceState(this.#page.place, "");
  }

  /** Shows as many ranks as there were when the visitor left the entry of the browser's history, and the same of them. */
  async #restorePlace(): Promise<void> {
    const place = history.state as Place | null;
    if (place === null) return;
    const turn = this.#turn;
    this.#isSettled = false;
    this.#isMoreAsked = true;
    const moved = new AbortController(); // by a visitor, who goes on from where the page is
    for (const type of ["wheel", "touchstart", "pointerdown", "keydown"])
      addEventListener(type, () => moved.abort(), { passive: true, signal: moved.signal });
    const isWanted = () => turn === this.#turn && !moved.signal.aborted;
    while (this.#page.place.count < place.count && (await this.#list.loadNext(isWanted)));
    this.#isMoreAsked = false;
    if (turn !== this.#turn) return;
    this.#isSettled = true;
    // What was skipped above has its true height only once it is near the screen.
    for (let frame = 0; frame < framesToSettle && isWanted(); frame++) {
      this.#page.scrollTo(place);
      await new Promise(requestAnimationFrame);
    }
    moved.abort();
  }

  #isShown(url: URL): boolean {
    const { query } = this.#shown ?? {};
    return query !== undefined && pageUrl(this.#queryOf(url)) === pageUrl(query);
  }

  #queryOf(url: URL): PageQuery {
    return readQuery(url, { region: this.#region, kinds: this.#data.kinds });
  }

  #setAttributes(shell: Shell): void {
    for (const [name, value] of Object.entries(pageParts.attributes(shell))) {
      if (value === undefined) this.#list.removeAttribute(name);
      else this.#list.setAttribute(name, value);
    }
  }

  #onList(): void {
    if (this.#shown === undefined) return;
    this.#page.showList(this.#shown);
    this.#watchEnd();
    this.#notice.clear("newer", "failure");
    this.#sayState();
  }

  /** Says of the list what is unusual, for as long as it is shown. */
  #sayState(): void {
    if (this.#shown === undefined) return;
    const { messages, formats } = this.#shown;
    const { state } = this.#list;
    if (!navigator.onLine) this.#sayFailure("offline");
    else if (state === "stale" || state === "fallback")
      this.#notice.show("stale", fill(messages[state], { age: formats.ago(this.#page.ageSeconds) }));
    else this.#notice.clear("stale");
  }

  #sayNewer(): void {
    const messages = this.#shown?.messages;
    if (messages === undefined) return;
    this.#notice.show("newer", messages.newer, {
      label: messages.show,
      run: () => {
        this.#list.showNewer();
        scrollTo(0, 0);
      },
    });
  }

  #sayFailure(state: Failure): void {
    const { messages, formats } = this.#shown ?? {};
    if (messages === undefined || formats === undefined) return;
    const age = formats.ago(this.#page.ageSeconds);
    if (state === "offline") this.#notice.show("failure", fill(messages.offline, { age }));
    else this.#notice.show("failure", messages.failed, { label: messages.retry, run: () => this.#retry() });
  }

  /** Asks whether there is a newer list, and says so when this one is old all the same. */
  async #refresh(): Promise<void> {
    const url = new URL(location.href);
    // After Back, when its list could not be read.
    if (!this.#isLoading && !this.#isShown(url)) return this.#go(url, { isNew: false });
    let hasFailed = false;
    const onFailure = () => {
      hasFailed = true;
    };
    this.#list.addEventListener("trendvault-failure", onFailure, { once: true });
    const isNewer = await this.#list.refresh();
    this.#list.removeEventListener("trendvault-failure", onFailure);
    if (hasFailed || isNewer || !navigator.onLine) return; // offline since it was asked
    this.#notice.clear("failure");
    this.#retry = () => void this.#refresh();
    this.#sayState();
  }

  #watchEnd(): void {
    this.#nearEnd.disconnect();
    const more = document.getElementById("more");
    if (more !== null) this.#nearEnd.observe(more);
  }

  async #onNearEnd(entries: IntersectionObserverEntry[]): Promise<void> {
    const isNear = entries.some(({ isIntersecting }) => isIntersecting);
    if (!isNear || this.#shownByThemselves >= pagesByThemselves) return;
    if (await this.#list.loadNext(() => this.#mayGrow)) this.#shownByThemselves++;
  }

  /** Whether further ranks may be added: not above a foot that somebody looks at, unless they were asked for. */
  get #mayGrow(): boolean {
    const foot = document.getElementById("foot");
    return this.#isMoreAsked || foot === null || foot.getBoundingClientRect().top >= innerHeight;
  }

  async #showMore(): Promise<void> {
    const link = document.getElementById("more");
    link?.classList.add("loading"); // now, and not when the ranks are there: what a visitor asks for may move
    this.#isMoreAsked = true;
    await this.#list.loadNext();
    this.#isMoreAsked = false;
    link?.classList.remove("loading");
  }
}

/** Copies the text beside a button, or shares the page as the device does. */
async function share(button: HTMLButtonElement, shell: Shell | undefined): Promise<void> {
  if (shell === undefined) return;
  const field = button.closest("div")?.querySelector("textarea");
  if (button.name === "share")
    return navigator.share({ title: pageParts.title(shell), url: field?.value ?? "" });
  const text = button.parentElement?.querySelector("textarea");
  text?.select();
  await navigator.clipboard.writeText(text?.value ?? "");
  button.textContent = shell.messages.copied;
}

/** Takes over the regions and languages of a deployment that has its own. They are named by Intl. */
function useRegionsOf({ languages, words }: PageData): void {
  const named =
    languages &&
    Object.entries(languages).map(([code, language]) => ({ code, name: code, languages: [language] }));
  if (named || words) useRegions({ default: "", regions: named ?? regions, languages: words });
}

/** What a page's URL names. `region` is that of a URL without one. */
function readQuery({ searchParams }: URL, shown: { region: string } & Pick<PageData, "kinds">): PageQuery {
  const value = (name: string) => searchParams.get(name) ?? undefined;
  const region = value("region")?.toUpperCase() ?? shown.region;
  const listed = (name: string) =>
    shown.kinds[`${name}=${value(name)}`]?.includes(region) ? value(name) : undefined;
  return {
    region,
    window: value("window") ?? defaultWindow,
    category: value("category"),
    ...{ audience: listed("audience"), live: listed("live"), duration: listed("duration") },
    lang: value("lang"),
  };
}

/** What the pickers and the foot of a page are made from. Loads the messages of its language. */
async function readShell(query: PageQuery, data: PageData): Promise<Shell> {
  const language = pageLanguageOf(query);
  const messages = data.words?.[language] ?? (await loadMessages(language as PageLanguage));
  const can = (what: string) => what in navigator;
  const device = { origin: location.origin, canCopy: can("clipboard"), canShare: can("share") };
  return { ...data, query, language, messages, formats: formatsOf(language), device };
}

/** Where in a list a visitor is: the video at the upper edge, how far from that, and of how many ranks. */
type Place = { count: number; id: string; top: number; y: number };

/** The parts of the document around the list. */
class ShownPage {
  readonly #list: TrendvaultList;

  constructor(list: TrendvaultList) {
    this.#list = list;
  }

  /** Seconds since the list was made, by the clock of the device. */
  get ageSeconds(): number {
    const generatedAt = this.#list.list?.generated_at;
    return generatedAt === undefined ? 0 : Math.max(0, (Date.now() - Date.parse(generatedAt)) / 1000);
  }

  get place(): Place {
    const items = this.#items;
    const first = items.find((item) => item.getBoundingClientRect().bottom > 0);
    const top = first?.getBoundingClientRect().top ?? 0;
    return { count: items.length, id: first === undefined ? "" : idOf(first), top, y: scrollY };
  }

  /** Scrolls to the video of a place; to the same distance from the top where it is not in the list any more. */
  scrollTo({ id, top, y }: Place): void {
    const item = y === 0 ? undefined : this.#items.find((each) => idOf(each) === id);
    if (item === undefined) scrollTo(0, y);
    else scrollBy(0, item.getBoundingClientRect().top - top);
  }

  get #items(): Element[] {
    return [...(this.#list.shadowRoot?.querySelectorAll("li") ?? [])];
  }

  /** Shows another page's head and foot. What had the focus has it again. */
  showShell(shell: Shell): void {
    const focused = document.activeElement;
    document.documentElement.lang = shell.language;
    document.documentElement.dir = shell.messages.dir;
    document.title = pageParts.title(shell);
    const canonical = document.querySelector<HTMLLinkElement>("link[rel=canonical]");
    if (canonical !== null) canonical.href = new URL(pageUrl(shell.query), canonical.href).href;
    replace("header", pageParts.header(shell));
    replace("foot", pageParts.foot(shell));
    this.showList(shell);
    if (document.activeElement !== focused) findAgain(focused)?.focus();
  }

  /** Shows how old the list is, and the link to its next ranks. */
  showList(shell: Shell): void {
    const { list } = this.#list;
    if (list === null) return;
    this.showAge(shell);
    document.getElementById("more")?.remove();
    const link = pageParts.more(list.next, shell);
    if (link !== null) this.#list.after(toDom(link, document));
  }

  showAge({ messages, formats }: Shell): void {
    const generatedAt = this.#list.list?.generated_at;
    if (generatedAt === undefined) return;
    const text = `${formats.localTime(generatedAt)} (${formats.ago(this.ageSeconds)})`;
    const shown = document.querySelector<HTMLTimeElement>("#as-of time");
    if (shown?.textContent !== text || shown.dateTime !== generatedAt) {
      replace("as-of", pageParts.asOf(generatedAt, text, messages));
    }
  }
}

function idOf(item: Element): string {
  return item.querySelector("[data-id]")?.getAttribute("data-id") ?? "";
}

function replace(id: string, view: ViewElement): void {
  document.getElementById(id)?.replaceWith(toDom(view, document));
}

/** The control in the new head that does what the old one did. */
function findAgain(before: Element | null): HTMLElement | null {
  if (before instanceof HTMLSelectElement) return document.querySelector(`select[name="${before.name}"]`);
  const text = before instanceof HTMLAnchorElement ? before.textContent : null;
  const links = [...document.querySelectorAll<HTMLElement>("a[data-pick]")];
  return (
    links.find((link) => link.getAttribute("href") === before?.getAttribute("href")) ??
    links.find((link) => link.textContent === text) ??
    null
  );
}

type Action = { label: string; run: () => void };

/** The one sentence above the page that says what is the matter. It covers, and moves nothing. */
class Notice {
  readonly #place: Element;
  #kind = "";

  constructor(place: Element) {
    this.#place = place;
  }

  /** Shows a sentence of a kind in place of any other; the same one is not announced again. */
  show(kind: string, text: string, action?: Action): void {
    if (this.#kind === kind && this.#place.firstChild?.firstChild?.textContent === text) return;
    this.#kind = kind;
    const button = action === undefined ? null : h("button", { type: "button" }, action.label);
    const shown = toDom(h("p", {}, h("span", {}, text), button), document);
    shown.lastChild?.addEventListener("click", () => action?.run());
    this.#place.replaceChildren(shown);
  }

  /** Takes the sentence away, if it is of one of these kinds. */
  clear(...kinds: string[]): void {
    if (!kinds.includes(this.#kind)) return;
    this.#kind = "";
    this.#place.replaceChildren();
  }
}

const pauseMs = 1000; // browsers take letters that follow one another as fast as this for one name

/**
 * What is chosen in the region's picker. With the keyboard a closed picker changes at each letter of a name and at each
 * arrow: such a choice waits for a pause, or for Enter or the next control, so that the page does not change while
 * somebody types.
 */
class RegionChoice {
  readonly #onChoice: (form: HTMLFormElement) => void;
  #isByKey = false;
  #waiting: { form: HTMLFormElement; timer: ReturnType<typeof setTimeout> } | null = null;

  constructor(onChoice: (form: HTMLFormElement) => void) {
    this.#onChoice = onChoice;
  }

  /** `shown` is the region of the list: another one was chosen before anybody listened. */
  listen(shown: string | null): void {
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
    const select = document.querySelector("select");
    if (select === null || select.value === shown) return;
    this.#isByKey = select.matches(":focus-visible");
    this.#onChange(select);
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

defineList();
const list = document.querySelector("trendvault-list");
const notice = document.getElementById("notice");
const data = document.getElementById("page-data")?.textContent;
if (list !== null && notice !== null && data) {
  new LivePage({ list, notice, data: JSON.parse(data) as PageData }).start().catch(stayPlain);
}
addEventListener("load", () => void keepOffline().catch(() => {})); // a browser may refuse to store anything

/** Without its words the page stays as it came, and its picker goes to another one. @throws what kept it from starting */
function stayPlain(error: unknown): never {
  history.scrollRestoration = "auto";
  document.addEventListener("change", ({ target }) => (target as HTMLSelectElement).form?.submit());
  throw error; // for the console
}

type Policy = { createScriptURL(url: string): string };
type Factory = { createPolicy(name: string, rules: Policy): Policy };

/** Keeps what the page needs to be shown without a network: itself and its assets, the same for everybody. */
async function keepOffline(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const { trustedTypes } = globalThis as { trustedTypes?: Factory };
  const policy = trustedTypes?.createPolicy("trendvault", { createScriptURL: () => paths.serviceWorker });
  await navigator.serviceWorker.register(policy?.createScriptURL("") ?? paths.serviceWorker);
  // This page came before the worker was there.
  const cache = await caches.open(offlineCache);
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  const assets = loaded.filter((url) => url.startsWith(`${location.origin}/assets/`));
  // The page last: what is kept can be shown.
  for (const url of [...new Set(assets), keptAddress(location.href)]) {
    if ((await cache.match(url)) === undefined) await cache.add(url);
  }
}
