import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { trendingPageExample } from "@trendvault/contract/examples";
import { Random } from "@trendvault/contract/test-support/random";
import { readViewMessage } from "@trendvault/contract/view-message";

// The module of docs/loop.md, as a page would run it: what of the browser it uses is here, and no more.
type Listener = () => void;
type Child = { click: Listener; addEventListener(name: string, listener: Listener): void };
type Page = {
  list: typeof trendingPageExample;
  children: Child[];
  show(ranks: number[]): void;
  hide(): void;
};

const text = readFileSync(join(import.meta.dir, "../docs/loop.md"), "utf8");
const source = /```js\n([\s\S]*?)```/.exec(text)?.[1]?.replace("export ", "") ?? "";

/** A page with a list of ten items from a rank on, and the messages that it sends. */
function openPage(firstRank = 1): { page: Page; sent: { token: string; seen: number; opened: number[] }[] } {
  const sent: { token: string; seen: number; opened: number[] }[] = [];
  let [report, onVisibilityChange]: [(shown: unknown[]) => void, Listener] = [() => {}, () => {}];
  const document = {
    visibilityState: "visible",
    addEventListener: (_: string, listener: Listener) => (onVisibilityChange = listener),
  };
  class IntersectionObserver {
    constructor(callback: typeof report) {
      report = callback;
    }
    observe() {}
  }
  const navigator = {
    sendBeacon(url: string, body: string) {
      const message = readViewMessage(body);
      if (typeof message === "string") throw new Error(`${url}: ${message}`);
      sent.push(message);
    },
  };
  const children = Array.from({ length: 10 }, (): Child => {
    const child: Child = {
      click: () => {},
      addEventListener: (_, listener) => {
        child.click = listener;
      },
    };
    return child;
  });
  const items = children.map((_, index) => ({ ...trendingPageExample.items[0], rank: firstRank + index }));
  const list = { ...trendingPageExample, items } as typeof trendingPageExample;
  const start = new Function("IntersectionObserver", "document", "navigator", `${source}; return tellLooks;`)(
    IntersectionObserver,
    document,
    navigator,
  );
  start(list, { children });
  const page: Page = {
    list,
    children,
    show: (ranks) =>
      report(ranks.map((rank) => ({ isIntersecting: true, target: children[rank - firstRank] }))),
    hide() {
      document.visibilityState = "hidden";
      onVisibilityChange();
      document.visibilityState = "visible";
      onVisibilityChange();
    },
  };
  return { page, sent };
}

test("one message says the deepest rank that was on screen and what was opened, when the page is hidden", () => {
  const { page, sent } = openPage(25);
  page.show([25, 26, 29, 27]);
  page.children[2]?.click();
  expect(sent).toEqual([]);
  page.hide();
  expect(sent).toEqual([{ token: page.list.token, seen: 29, opened: [27] }]);
});

test("what is opened afterwards is told without a further look, and each opening once", () => {
  const { page, sent } = openPage();
  page.show([1, 2]);
  page.hide();
  page.show([1, 2, 3, 4]);
  page.children[0]?.click();
  page.hide();
  page.children[0]?.click();
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

const random = new Random();

function doSomething({ list, children, show, hide }: Page): void {
  const ranks = list.items.map(({ rank }) => rank);
  const deeds = [() => show([random.pick(ranks)]), () => random.pick(children).click(), hide];
  random.pick(deeds)();
}

test(`whatever a visitor does, looks are told once, and openings once (seed ${random.seed})`, () => {
  for (let round = 0; round < 300; round++) {
    const { page, sent } = openPage(1 + 10 * random.below(4));
    for (let step = 0; step < 20; step++) doSomething(page);
    const looks = sent.filter(({ seen }) => seen > 0);
    expect(looks.length).toBeLessThanOrEqual(1);
    for (const { seen, opened } of looks) expect(Math.max(0, ...opened)).toBeLessThanOrEqual(seen);
    const opened = sent.flatMap((message) => message.opened);
    expect(new Set(opened).size).toBe(opened.length);
  }
});
