import { describe, expect, test } from "bun:test";
import { Random } from "@trendvault/kit/random";
import { viewSchemas } from "./openapi.ts";
import type { TokenList } from "./token.ts";
import { countsOf, readViewMessage, type ViewMessage } from "./views.ts";

const random = new Random();
const list: TokenList = { region: "GB", window: "day", category: "", generation: 7, offset: 24, count: 24 };
const good = { token: "a.b.c", seen: 30, opened: [25, 30] };

describe("a message is refused", () => {
  const bodies: [string, unknown][] = [
    ["that is no JSON", undefined],
    ["that is null", null],
    ["that is an array", [good]],
    ["that is a text", "seen"],
    ["with an unknown field", { ...good, time: 1 }],
    ["without a token", { seen: 1, opened: [] }],
    ["without seen", { token: "a", opened: [] }],
    ["without opened", { token: "a", seen: 1 }],
    ["with a token that is a number", { ...good, token: 1 }],
    ["with a token that is too long", { ...good, token: "a".repeat(401) }],
    ["that saw a negative rank", { ...good, seen: -1 }],
    ["that saw half a rank", { ...good, seen: 30.5 }],
    ["that saw a text", { ...good, seen: "30" }],
    ["that saw too much", { ...good, seen: 501 }],
    ["that saw nothing that is a number", { ...good, seen: null }],
    ["that opened a number", { ...good, opened: 3 }],
    ["that opened rank 0", { ...good, opened: [0] }],
    ["that opened a text", { ...good, opened: ["3"] }],
    ["that opened a rank twice", { ...good, opened: [25, 25] }],
    ["that opened more than a page", { ...good, opened: Array.from({ length: 51 }, (_, n) => n + 1) }],
  ];
  test.each(bodies)("%s", (_, body) => {
    expect(readViewMessage(body === undefined ? "{" : JSON.stringify(body))).toBeString();
  });
});

test.each(['"seen":31', '"token":"a"', '"opened":[]', '"se\\u0065n":31'])(
  "a message with a second value of a member is refused, which JSON.parse would take: %s",
  (second) => {
    for (const text of [
      JSON.stringify(good).replace("}", `,${second}}`),
      JSON.stringify(good).replace("{", `{${second},`),
    ])
      expect(readViewMessage(text)).toBe("expected token, seen and opened, each once");
  },
);

test(`what is read is what the OpenAPI document describes (TEST_SEED=${random.seed})`, () => {
  let accepted = 0;
  for (let draw = 0; draw < 3000; draw++) {
    const text = JSON.stringify(drawMessage());
    const described = viewSchemas.ViewMessage.safeParse(JSON.parse(text));
    if (described.success) accepted++;
    expect(readViewMessage(text), text).toEqual(described.success ? described.data : expect.any(String));
  }
  expect(accepted).toBeGreaterThan(0);
});

test("what is wrong is said without a word of the message", () => {
  const secret = "personal";
  for (const body of [
    { ...good, [secret]: 1 },
    { ...good, token: { secret } },
    { ...good, opened: [secret] },
  ]) {
    expect(readViewMessage(JSON.stringify(body))).not.toContain(secret);
  }
});

describe("of a message about ranks 25 to 48", () => {
  const cases: [string, Pick<ViewMessage, "seen" | "opened">, unknown][] = [
    ["ranks seen and opened", { seen: 30, opened: [25] }, { firstSeen: 25, lastSeen: 30, opened: [25] }],
    ["the whole page", { seen: 48, opened: [48] }, { firstSeen: 25, lastSeen: 48, opened: [48] }],
    [
      "clicks alone add no impression",
      { seen: 0, opened: [40] },
      { firstSeen: 25, lastSeen: 24, opened: [40] },
    ],
    ["a rank before the page", { seen: 24, opened: [] }, expect.any(String)],
    ["a rank past the page", { seen: 49, opened: [] }, expect.any(String)],
    ["an opening before the page", { seen: 30, opened: [24] }, expect.any(String)],
    ["an opening past the page", { seen: 0, opened: [49] }, expect.any(String)],
    ["an opening of what was not seen", { seen: 30, opened: [31] }, expect.any(String)],
    ["nothing", { seen: 0, opened: [] }, expect.any(String)],
  ];
  test.each(cases)("%s", (_, message, expected) => {
    expect(countsOf({ token: "", ...message }, list)).toEqual(expected as never);
  });

  test(`any ranks are within it, or refused (TEST_SEED=${random.seed})`, () => {
    for (let draw = 0; draw < 2000; draw++) {
      const opened = Array.from({ length: random.below(5) }, () => 1 + random.below(60));
      const counts = countsOf({ token: "", seen: random.below(60), opened }, list);
      if (typeof counts === "string") continue;
      const ranks = [...counts.opened, counts.firstSeen, counts.lastSeen + 1];
      expect(ranks.every((rank) => rank > 24 && rank <= 49)).toBe(true);
    }
  });
});

/** A message with some of its members replaced by others, left out or added; now and then no object. */
function drawMessage(): unknown {
  const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);
  const values = {
    token: [good.token, "", "a".repeat(400), "a".repeat(401), 1, null, ["a"]],
    seen: [good.seen, 0, 1, 500, 501, -1, 1.5, 1e300, "1", null, true, [1], {}],
    opened: [good.opened, [], [1], [2, 2], [0], [500], [501], ["1"], [[1]], upTo(50), upTo(51), 3, null, {}],
    time: [undefined, undefined, undefined, 1],
  };
  const members = Object.entries(values).filter(() => random.below(16) > 0);
  const message = members.map(([name, drawn]) => [
    name,
    random.pick([drawn[0], random.pick<unknown>(drawn)]),
  ]);
  return random.pick([null, 1, [good], ...Array(30).fill(Object.fromEntries(message))]);
}
