import { afterEach, expect, test } from "bun:test";
import { readViewMessage } from "@trendvault/contract/views";
import { Random } from "@trendvault/kit/random";
import { Window } from "happy-dom";
import { pageOf } from "../test-support/fake-server.ts";
import { reportImpressions } from "./report-impressions.ts";

type Message = { token: string; seen: number; opened: number[] };
type Page = {
  list: ReturnType<typeof pageOf>;
  children: Element[];
  show(ranks: number[]): void;
  hide(): void;
  end(): void;
};

// What the function uses of the browser, and no more.
const names = ["IntersectionObserver", "document", "navigator"] as const;
const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
afterEach(() => {
  for (const [name, descriptor] of before) {
    if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, descriptor);
  }
});

/** A page with a list of ten items from a rank on, and the messages that it sends. */
function openPage(
  firstRank = 1,
  { again = false, clicks = true, markup = "", forKids = [] as number[] } = {},
): { page: Page; sent: Message[] } {
  const sent: Message[] = [];
  const window = new Window();
  const { document } = window;
  let report: (shown: unknown[]) => void = () => {};
  const globals = {
    document,
    IntersectionObserver: class {
      constructor(callback: typeof report) {
        report = callback;
      }
      observe() {}
      disconnect() {}
    },
    navigator: {
      sendBeacon(url: string, body: string) {
        const message = readViewMessage(body);
        if (typeof message === "string") throw new Error(`${url}: ${message}`);
        sent.push(message);
      },
    },
  };
  for (const name of names)
    Object.defineProperty(globalThis, name, { value: globals[name], configurable: true });
  const list = pageOf({ offset: firstRank - 1, count: 10, total: 100 });
  for (const item of list.items) if (forKids.includes(item.rank)) item.made_for_kids = true;
  const children = list.items.map(() => {
    const child = document.createElement("li") as unknown as Element;
    child.innerHTML = markup;
    return child;
  });
  const end = reportImpressions(list, children, { again, clicks });
  const change = (visibilityState: string) => {
    Object.defineProperty(document, "visibilityState", { value: visibilityState, configurable: true });
    document.dispatchEvent(new window.Event("visibilitychange"));
  };
  const page: Page = {
    list,
    children,
    end,
    show: (ranks) =>
      report(ranks.map((rank) => ({ isIntersecting: true, target: children[rank - firstRank] }))),
    hide() {
      change("hidden");
      change("visible");
    },
  };
  return { page, sent };
}

const click = (element: Element | null | undefined) => (element as HTMLElement).click();

test("one message says the deepest rank that was on screen and what was opened, when the page is hidden", () => {
  const { page, sent } = openPage(25);
  page.show([25, 26, 29, 27]);
  click(page.children[2]);
  expect(sent).toEqual([]);
  page.hide();
  expect(sent).toEqual([{ token: page.list.token, seen: 29, opened: [27] }]);
});

test("a click afterwards is reported without a further impression, and each once", () => {
  const { page, sent } = openPage();
  page.show([1, 2]);
  page.hide();
  page.show([1, 2, 3, 4]);
  click(page.children[0]);
  page.hide();
  click(page.children[0]);
  page.hide();
  page.hide();
  expect(sent.map(({ seen, opened }) => ({ seen, opened }))).toEqual([
    { seen: 2, opened: [] },
    { seen: 0, opened: [1] },
  ]);
});

test("a list that was never on screen tells nothing", () => {
  const { page, sent } = openPage();
  page.hide();
  expect(sent).toEqual([]);
});

test("where an item has links, only they open it", () => {
  const { page, sent } = openPage(1, {
    markup: '<a href="/watch"><b>title</b></a><button>why here</button>',
  });
  page.show([1, 2, 3]);
  click(page.children[0]?.querySelector("button"));
  click(page.children[1]?.querySelector("b"));
  page.hide();
  expect(sent).toEqual([{ token: page.list.token, seen: 3, opened: [2] }]);
});

test("a list in place of an older one adds no impression, and reports clicks", () => {
  const { page, sent } = openPage(1, { again: true });
  page.show([1, 2, 3]);
  page.hide();
  click(page.children[1]);
  page.hide();
  expect(sent).toEqual([{ token: page.list.token, seen: 0, opened: [2] }]);
});

test("nothing is reported of what is made for kids, and nothing at all of a list of it", () => {
  const { page, sent } = openPage(1, { forKids: [2, 4] });
  page.show([1, 2, 3, 4]);
  for (const child of page.children.slice(0, 4)) click(child);
  page.hide();
  expect(sent).toEqual([{ token: page.list.token, seen: 3, opened: [1, 3] }]);

  const kids = openPage(1, { forKids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] });
  kids.page.show([1, 2, 3]);
  click(kids.page.children[1]);
  kids.page.hide();
  kids.page.end();
  expect(kids.sent).toEqual([]);
});

test("where the page with the video tells clicks, a list reports what was seen only", () => {
  const { page, sent } = openPage(1, { clicks: false });
  page.show([1, 2]);
  click(page.children[3]);
  page.hide();
  click(page.children[0]);
  page.hide();
  expect(sent).toEqual([{ token: page.list.token, seen: 4, opened: [] }]);
});

test("a list that is taken away is told at once, and nothing of it afterwards", () => {
  const { page, sent } = openPage();
  page.show([1, 2]);
  page.end();
  click(page.children[0]);
  page.hide();
  expect(sent).toEqual([{ token: page.list.token, seen: 2, opened: [] }]);
});

const random = new Random();

function doSomething({ list, children, show, hide }: Page): void {
  const ranks = list.items.map(({ rank }) => rank);
  const deeds = [() => show([random.pick(ranks)]), () => click(random.pick(children)), hide];
  random.pick(deeds)();
}

test(`whatever a visitor does, impressions are reported once, and clicks once (seed ${random.seed})`, () => {
  for (let round = 0; round < 300; round++) {
    const { page, sent } = openPage(1 + 10 * random.below(4));
    for (let step = 0; step < 20; step++) doSomething(page);
    const withImpressions = sent.filter(({ seen }) => seen > 0);
    expect(withImpressions.length).toBeLessThanOrEqual(1);
    for (const { seen, opened } of withImpressions) expect(Math.max(0, ...opened)).toBeLessThanOrEqual(seen);
    const opened = sent.flatMap((message) => message.opened);
    expect(new Set(opened).size).toBe(opened.length);
  }
});
