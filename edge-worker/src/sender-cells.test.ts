import { expect, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import vectors from "../../contract/sender-cells-vectors.json" with { type: "json" };
import type { Increments } from "./minute-counts.ts";
import { SenderCells } from "./sender-cells.ts";

const random = new Random(25);
const hour = 3600;
const names = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

test("clicks count as the vectors say, here and in the writer's simulation", () => {
  let now = 0;
  const cells = new SenderCells(() => now);
  for (const { clicks, counted } of vectors.hours) {
    const told = clicks.match(/../g) ?? [];
    const judged = told.map(([video = "", cell = ""]) => cells.isCounted(video, names.indexOf(cell)));
    expect(judged.map(Number).join("")).toBe(counted);
    now += hour;
  }
});

/** Clicks of so many messages on the first rank of a list, one from each network. */
function clicksOf(networks: string[], video = "v"): Increments {
  const looks = [
    {
      window: "now",
      category: "",
      generation: 1,
      block: 0,
      ranks: [[1, video, networks.length, networks.length]],
    },
  ] as Increments["looks"];
  return { looks, served: [], senders: networks.map((network) => ({ network, clicks: [[0, 1]] })) };
}

async function countedOf(cells: SenderCells, increments: Increments): Promise<number> {
  const { looks } = await cells.judge(increments);
  expect(looks[0]?.ranks[0]?.[2]).toBe(increments.looks[0]?.ranks[0]?.[2] as number);
  return looks[0]?.ranks[0]?.[3] as number;
}

test("one sender's clicks on a video count once in an hour, and once in the next", async () => {
  let now = 1000 * hour;
  const cells = new SenderCells(() => now);
  const one = Array<string>(300).fill("192.0.2.1");
  expect([await countedOf(cells, clicksOf(one)), await countedOf(cells, clicksOf(one))]).toEqual([1, 0]);
  now += hour;
  expect(await countedOf(cells, clicksOf(one))).toBe(1);
});

test("clicks whose sender is not known count, and nobody is handed on", async () => {
  const cells = new SenderCells(() => 0);
  const { senders: _, ...increments } = clicksOf(Array<string>(300).fill(""));
  expect(await cells.judge({ ...increments, senders: [] })).toEqual(increments);
});

/** How many clicks count, of those on one video or of all, in a random order; each has a video and a cell. */
function countedOn(video: string | null, clicks: [string, number][]): number {
  const cells = new SenderCells(() => 0);
  const order = clicks.map((click) => ({ click, at: random.next() })).sort((a, b) => a.at - b.at);
  return order.filter(({ click: [one, cell] }) => cells.isCounted(one, cell) && one === (video ?? one))
    .length;
}

const anyCell = () => random.below(64);
const clicksOn = (count: number, video: (n: number) => string, cell: () => number) =>
  Array.from({ length: count }, (_, n): [string, number] => [video(n), cell()]);
const onOthers = (n: number) => `other-${n % 30}`;

test.each([50, 300, 3000])("one sender holds nothing back of a video that %d visitors open", (visitors) => {
  const own = anyCell();
  for (const sent of [0, 1000, 10_000]) {
    const clicks = [
      ...clicksOn(visitors, () => "hit", anyCell),
      ...clicksOn(
        sent,
        () => "hit",
        () => own,
      ),
      ...clicksOn(1000, onOthers, anyCell),
    ];
    expect(countedOn("hit", clicks)).toBeWithin(0.9 * visitors, 1.1 * visitors + 10);
  }
});

test.each([0, 100, 2000])(
  "10,000 visitors behind one address, and %d others: at least half counts",
  (others) => {
    const clicks = [...clicksOn(10_000, onOthers, () => 7), ...clicksOn(others, onOthers, anyCell)];
    expect(countedOn(null, clicks)).toBeGreaterThan(clicks.length / 2);
  },
);

test("of 2,000 clicks of a hundred senders on one video a tenth counts, and in the next hour less", () => {
  let now = 0;
  const cells = new SenderCells(() => now);
  const counted = [0, 0].map(() => {
    const senders = Array.from({ length: 100 }, anyCell);
    let sum = 0;
    for (let n = 0; n < 2000; n++) {
      if (cells.isCounted("pushed", random.pick(senders))) sum++;
      cells.isCounted(onOthers(n), anyCell());
    }
    now += hour;
    return sum;
  });
  expect(counted[0]).toBeLessThan(300);
  expect(counted[1]).toBeLessThan(50);
});

test("messages that open 50 ranks each, an hour's first, do not make one sender many", () => {
  const cells = new SenderCells(() => 0);
  for (let n = 0; n < 9600; n++) cells.isCounted(`listed-${n % 300}`, 5, n % 50 === 0);
  let counted = 0;
  for (let n = 0; n < 2000; n++) {
    cells.isCounted("target", anyCell());
    cells.isCounted(`listed-${random.below(500)}`, anyCell());
    if (cells.isCounted("target", 5)) counted++;
  }
  expect(counted).toBeLessThan(600);
});
