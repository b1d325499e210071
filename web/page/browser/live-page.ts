import { pageUrl } from "@trendvault/contract/page";
import type { TrendvaultList } from "../../client/src/element.ts";
import { fill } from "../../client/src/view/words/words.ts";
import type { PageData, Shell } from "../page-model.ts";
import { Notice } from "./notice.ts";
import { readQuery, readShell, useRegionsOf } from "./read-shell.ts";
import { RegionChoice } from "./region-choice.ts";
import { ShownPage } from "./shown-page.ts";

type Parts = { list: TrendvaultList; notice: Element; data: PageData };

const refreshSeconds = 60;
const oldSeconds = 150; // a fresh page is younger: longer than caches keep it, it is asked at once whether there is a newer one
const staleSeconds = 900; // the edge serves older lists only while the origin fails

/** The page with its scripts: pickers without reload, further ranks, newer lists, and what is said when something fails. */
export class LivePage {
  readonly #list: TrendvaultList;
  readonly #data: PageData;
  readonly #notice: Notice;
  readonly #page: ShownPage;
  readonly #nearEnd = new IntersectionObserver((entries) => this.#onNearEnd(entries), {
    rootMargin: "800px",
  });
  readonly #choice = new RegionChoice((form) => this.#onChoice(form));
  /** Of the list that is shown or loading, and of the last one that was shown. */
  #shell: Shell | undefined;
  #shown: Shell | undefined;
  #turn = 0;
  #retry = () => void this.#refresh();

  constructor({ list, notice, data }: Parts) {
    this.#list = list;
    this.#data = data;
    this.#notice = new Notice(notice);
    this.#page = new ShownPage(list);
  }

  async start(): Promise<void> {
    const region = this.#list.getAttribute("region") ?? "";
    useRegionsOf(this.#data);
    this.#shell = await readShell(readQuery(new URL(location.href), region), this.#data);
    this.#shown = this.#shell;
    this.#listen();
    this.#page.showAge(this.#shell);
    this.#watchEnd();
    setInterval(() => this.#shell && this.#page.showAge(this.#shell), 30_000);
    setInterval(() => document.visibilityState === "visible" && void this.#refresh(), refreshSeconds * 1000);
    if (!navigator.onLine) this.#sayFailure("offline");
    else if (this.#page.ageSeconds > oldSeconds) await this.#refresh();
  }

  #listen(): void {
    document.addEventListener("click", (event) => this.#onClick(event));
    this.#choice.listen();
    addEventListener("popstate", () => {
      this.#choice.forget();
      void this.#go(new URL(location.href), { isNew: false });
    });
    addEventListener("offline", () => this.#sayFailure("offline"));
    addEventListener("online", () => void this.#refresh());
    this.#list.addEventListener("trendvault-list", ({ detail }) => this.#onList(detail.state));
    this.#list.addEventListener("trendvault-newer", () => this.#sayNewer());
    this.#list.addEventListener("trendvault-failure", ({ detail }) => this.#sayFailure(detail.state));
  }

  #onClick(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (link === null || !isPlain || event.defaultPrevented) return;
    if (link.rel === "next") void this.#list.loadNext();
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
    const turn = ++this.#turn;
    this.#retry = () => void this.#go(url, { isNew });
    const query = readQuery(url, this.#list.getAttribute("region") ?? "");
    const shell = await readShell(query, this.#data).catch(() => null);
    if (turn !== this.#turn || shell === null) return;
    this.#use(shell);
    const isShown = await this.#list.load();
    if (isShown) this.#shown = shell;
    if (turn !== this.#turn || this.#shown === undefined) return;
    if (isShown) {
      this.#retry = () => void this.#refresh();
      if (isNew) history.pushState(null, "", pageUrl(query));
    } else this.#use(this.#shown);
    this.#choice.end(); // a choice that was made while the list was loading would be lost with the picker of before
    this.#page.showShell(this.#shown); // where nothing new is shown, for the control that was used
    this.#watchEnd();
    if (isShown && isNew) scrollTo(0, 0);
  }

  #use(shell: Shell): void {
    this.#shell = shell;
    this.#setAttributes(shell);
  }

  #setAttributes({ query: { region, window, category }, language }: Shell): void {
    const given = { region, window, category, lang: language };
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined) this.#list.removeAttribute(name);
      else this.#list.setAttribute(name, value);
    }
  }

  #onList(state: "live" | "stale" | "fallback"): void {
    const { words, formats } = this.#shell ?? {};
    if (this.#shell === undefined || words === undefined || formats === undefined) return;
    this.#page.showList(this.#shell);
    this.#watchEnd();
    if (state === "live") this.#notice.clear("newer", "failure", "stale");
    else this.#notice.show("stale", fill(words[state], { age: formats.ago(this.#page.ageSeconds) }));
  }

  #sayNewer(): void {
    const words = this.#shell?.words;
    if (words === undefined) return;
    this.#notice.show("newer", words.newer, {
      label: words.showNewer,
      run: () => {
        this.#list.showNewer();
        scrollTo(0, 0);
      },
    });
  }

  #sayFailure(state: "offline" | "unavailable" | "unverified"): void {
    const { words, formats } = this.#shown ?? {};
    if (words === undefined || formats === undefined) return;
    const age = formats.ago(this.#page.ageSeconds);
    if (state === "offline") this.#notice.show("failure", fill(words.offline, { age }));
    else this.#notice.show("failure", words.failed, { label: words.retry, run: () => this.#retry() });
  }

  /** Asks whether there is a newer list, and says so when this one is old all the same. */
  async #refresh(): Promise<void> {
    let hasFailed = false;
    const onFailure = () => {
      hasFailed = true;
    };
    this.#list.addEventListener("trendvault-failure", onFailure, { once: true });
    const isNewer = await this.#list.refresh();
    this.#list.removeEventListener("trendvault-failure", onFailure);
    if (hasFailed || isNewer || this.#shell === undefined) return;
    this.#notice.clear("failure");
    const { words, formats } = this.#shell;
    const { ageSeconds } = this.#page;
    if (ageSeconds > staleSeconds)
      this.#notice.show("stale", fill(words.stale, { age: formats.ago(ageSeconds) }));
    else this.#notice.clear("stale");
  }

  #watchEnd(): void {
    this.#nearEnd.disconnect();
    const more = document.getElementById("more");
    if (more !== null) this.#nearEnd.observe(more);
  }

  #onNearEnd(entries: IntersectionObserverEntry[]): void {
    if (entries.some(({ isIntersecting }) => isIntersecting)) void this.#list.loadNext();
  }
}
