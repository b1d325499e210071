import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import vectors from "../../contract/sender-cells-vectors.json" with { type: "json" };
import type { Increments } from "./minute-counts.ts";
import { SenderCells } from "./sender-cells.ts";

const random = new Random(25);
const hour = 3600;

// Which networks share a cell follows from it: a random one would fill a cell of these tests in one run of a thousand.
beforeAll(() => void spyOn(crypto, "randomUUID").mockReturnValue("6c1f3c9e-0f0c-4d2b-9a55-2f8e4b7d1a03"));
afterAll(() => void spyOn(crypto, "randomUUID").mockRestore());
const names = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

test("clicks and messages count as the vectors say, here and in the writer's simulation", () => {
  let now = 0;
  const cells = new SenderCells(() => now);
  const judge = (told: string, isCounted: (name: string, cell: number) => number) =>
    told.replace(/../g, ([name = "", cell = ""]) => `${isCounted(name, names.indexOf(cell))}`);
  for (const { clicks, counted, messages, judged } of vectors.hours) {
    expect(judge(clicks, (video, cell) => Number(cells.isCounted(video, cell)))).toBe(counted);
    expect(
      judge(messages, (depth, cell) =>
        cells.isTaken(cell) ? 1 + Number(cells.isSeen([depth, String(depth < "c")], cell)) : 0,
      ),
    ).toBe(judged);
    now += hour;
  }
});

/** Messages that each see ranks 1 to `lastSeen` of a page of three, one from each network; those of all open the second. */
function messagesOf(networks: string[], lastSeen: number): Increments {
  const ranks = ["first", "v", "third"].map((video, n): [number, string, number, number] => [
    n + 1,
    video,
    n < lastSeen ? networks.length : 0,
    n === 1 ? networks.length : 0,
  ]);
  const told = { positions: [0], firstSeen: 1, lastSeen, opened: [2] };
  const looks = [{ window: "now", category: "", generation: 1, block: 0, ranks }] as Increments["looks"];
  return { looks, served: [], senders: networks.map((network) => ({ network, ...told })) };
}

const clicksOf = (networks: string[]) => messagesOf(networks, 0);

async function countedOf(cells: SenderCells, increments: Increments): Promise<number> {
  const { looks } = await cells.judge(increments);
  return looks[0]?.ranks[1]?.[3] as number;
}

test("one sender's clicks on a video count once in an hour, and once in the next", async () => {
  let now = 1000 * hour;
  const cells = new SenderCells(() => now);
  const one = Array<string>(300).fill("192.0.2.1");
  expect([await countedOf(cells, clicksOf(one)), await countedOf(cells, clicksOf(one))]).toEqual([1, 0]);
  now += hour;
  expect(await countedOf(cells, clicksOf(one))).toBe(1);
});

test("of a video that only some messages of a batch had no count falls below zero", async () => {
  const increments = messagesOf(Array<string>(300).fill("192.0.2.1"), 3);
  for (const counts of increments.looks[0]?.ranks ?? [])
    [counts[2], counts[3]] = [1, Number(counts[0] === 2)];
  const { looks } = await new SenderCells(() => 0).judge(increments);
  expect(looks[0]?.ranks.flatMap(([, , ...counts]) => counts).filter((count) => count < 0)).toEqual([]);
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

test("of messages that a cell sends too many of counts nothing: they push no video up or down", async () => {
  const one = Array<string>(300).fill("192.0.2.1");
  const increments = messagesOf(one, 2);
  const others = Array.from({ length: 200 }, (_, n) => `198.51.100.${n}`);
  const cells = new SenderCells(() => 0);
  await cells.judge(messagesOf(others, 2));
  const { looks, ...rest } = await cells.judge(increments);
  const [first, second, third] = looks[0]?.ranks ?? [];
  expect(first?.[2]).toBeWithin(1, 60);
  expect(second?.[2]).toBeWithin(1, 60);
  expect(second?.[3]).toBeWithin(1, second?.[2] as number);
  expect(third).toEqual([3, "third", 0, 0]);
  expect(rest).toEqual({ served: [] });
});

test("visitors behind one address whose first messages open nothing count once others of them open something", async () => {
  const cells = new SenderCells(() => 0);
  const ranks = Array.from({ length: 24 }, (_, n) => n + 1);
  const countOf = async (senders: { network: string; opened: number[] }[]): Promise<number> => {
    const told = senders.map((sender) => ({ ...sender, positions: [0], firstSeen: 1, lastSeen: 1 }));
    const clicksAt = (rank: number) => senders.filter(({ opened }) => opened.includes(rank)).length;
    const looks = [{ window: "now", category: "", generation: 1, block: 0 } as const].map((block) => ({
      ...block,
      ranks: ranks.map((rank): [number, string, number, number] => {
        const clicks = clicksAt(rank);
        return [rank, `v${rank}`, rank === 1 ? senders.length : 0, clicks];
      }),
    }));
    const judged = await cells.judge({ looks, served: [], senders: told });
    return judged.looks[0]?.ranks[0]?.[2] ?? 0;
  };
  const opening = (networks: string[]) => networks.map((network, n) => ({ network, opened: [2 + (n % 23)] }));
  await countOf(opening(Array.from({ length: 200 }, (_, n) => `198.51.100.${n}`)));
  const one = Array<string>(400).fill("192.0.2.1");
  expect(await countOf(one.map((network) => ({ network, opened: [] })))).toBeLessThan(100);
  expect(await countOf(opening(one))).toBeGreaterThan(100);
});

test("where visitors open many videos one after the other and come back, every impression counts", async () => {
  const cells = new SenderCells(() => 0);
  const messages = Array.from({ length: 600 }, (_, n) => {
    const later = Array.from({ length: Math.floor(-4 * Math.log(1 - random.next())) }, () => 0);
    return [3, ...later].map((seen) => ({ seen, network: `192.0.2.${n}`, at: random.next() }));
  }).flat();
  let counted = 0;
  for (const { network, seen } of messages.sort((a, b) => a.at - b.at)) {
    const { looks } = await cells.judge(messagesOf([network], seen));
    counted += looks[0]?.ranks[0]?.[2] as number;
  }
  expect(counted).toBe(600);
});

/** What a visitor sees of a page of 24 ranks: rank k with chance 1 / k^0.9. */
const anyDepth = (drawn = random) => Math.min(24, Math.floor((1 - drawn.next()) ** (-1 / 0.9)));
const senderOf = (cell: () => number, depth = () => anyDepth()) => ({ cell, depth });

/** How many messages count, of senders in a random order, and their impressions of rank 24 or deeper. */
function seenOf(
  cells: SenderCells,
  senders: readonly { cell: () => number; depth: () => number }[],
  drawn = random,
) {
  const order = senders.map((sender) => ({ sender, at: drawn.next() })).sort((a, b) => a.at - b.at);
  const sums = { messages: 0, deepest: 0 };
  cells.renew();
  for (const { sender } of order) {
    const [cell, depth] = [sender.cell(), sender.depth()];
    const isSeen =
      cells.isTaken(cell) && cells.isSeen([`${depth}`, `1/${Math.floor(Math.log2(depth))}`], cell);
    sums.messages += Number(isSeen);
    sums.deepest += Number(isSeen && depth === 24);
    if (sender.depth !== flood && drawn.next() < 0.1) cells.isCounted(`video-${drawn.below(30)}`, cell);
  }
  return sums;
}

const flood = () => 24; // of ranks that are seen, without a click
const visitorsOf = (count: number) => Array.from({ length: count }, () => senderOf(anyCell));

test("where everybody sends one message, as good as all count", () => {
  const drawn = new Random(25);
  for (const most of [10, 100, 1000, 10_000]) {
    const visitors = Array.from({ length: 1 + drawn.below(most) }, () =>
      senderOf(
        () => drawn.below(64),
        () => anyDepth(drawn),
      ),
    );
    const { messages } = seenOf(new SenderCells(() => 0), visitors, drawn);
    expect(messages).toBeGreaterThanOrEqual(0.999 * visitors.length); // one seed of some hundreds loses one of thousands
  }
});

test("where everybody sends three messages alike, nearly all count", () => {
  const visitors = Array.from({ length: 6000 }, () => {
    const [cell, depth] = [anyCell(), anyDepth()];
    return Array<ReturnType<typeof senderOf>>(3).fill(
      senderOf(
        () => cell,
        () => depth,
      ),
    );
  }).flat();
  expect(seenOf(new SenderCells(() => 0), visitors).messages).toBeGreaterThan(0.95 * visitors.length);
});

test.each([0, 100, 2000])(
  "of messages of 10,000 visitors behind one address, and %d others, nine in ten count",
  (others) => {
    const visitors = [...Array.from({ length: 10_000 }, () => senderOf(() => 7)), ...visitorsOf(others)];
    expect(seenOf(new SenderCells(() => 0), visitors).messages).toBeGreaterThan(0.9 * visitors.length);
  },
);

test.each([
  { share: 0.01, addresses: 1, most: [1.1, 1.1] },
  { share: 0.1, addresses: 1, most: [1.2, 1.2] },
  { share: 0.1, addresses: 100, most: [2, 1.6] },
])(
  "messages that all was seen, $share of all from $addresses, hardly add to a rank's impressions",
  ({ share, addresses, most }) => {
    let now = 0;
    const cells = new SenderCells(() => now);
    for (const limit of most) {
      const own = Array.from({ length: addresses }, anyCell);
      const visitors = visitorsOf(20_000);
      const alone = seenOf(new SenderCells(() => 0), visitors).deepest;
      const false_ = Array.from({ length: (20_000 * share) / (1 - share) }, () =>
        senderOf(() => random.pick(own), flood),
      );
      expect(seenOf(cells, [...visitors, ...false_]).deepest).toBeWithin(0.8 * alone, limit * alone);
      now += hour;
    }
  },
);
