import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Random } from "@trendvault/kit/random";
import { TestTokenSigner } from "@trendvault/kit/signers";
import { answerSeconds, choiceOf, type ListChoice, listName, viewsAcceptedSeconds } from "./lists.ts";
import { parseTrendingQuery, trendingUrl } from "./queries.ts";
import { claimsOf, tokenListName, verifyToken } from "./token.ts";

test("the name of a list says what selects it", () => {
  expect(listName({})).toBe("");
  expect(listName({ category: "Music" })).toBe("Music");
  expect(listName({ language: "de" })).toBe("#language:de");
  expect(listName({ audience: "kids" })).toBe("#language:audience=kids");
  for (const choice of [
    {},
    { category: "#Music" },
    { language: "de" },
    { duration: "long" },
    { live: "now" },
  ]) {
    expect(choiceOf(listName(choice))).toEqual(choice);
  }
});

test("the writer calls the lists by kind so, and no category", () => {
  const path = Bun.fileURLToPath(import.meta.resolve("../writer/src/Observations/ObservationParser.php"));
  expect(readFileSync(path, "utf8")).toContain(`LANGUAGE_LISTS = '${listName({ language: "" })}';`);
});

const random = new Random();

test(`two lists have two names, in tokens and in addresses (seed ${random.seed})`, async () => {
  const signer = await TestTokenSigner.create();
  const [names, tokens, targets] = [new Map(), new Map(), new Map()];
  for (let draw = 0; draw < 3000; draw++) {
    const choice = drawChoice();
    const key = JSON.stringify(choice);
    const target = trendingUrl({ region: "DE", window: "day", limit: 24, ...choice });
    const { query } = parseTrendingQuery(target.replace(/^[^?]*/, ""));
    if (query === null) continue;
    expect(query).toEqual({ region: "DE", window: "day", limit: 24, ...choice });
    const category = tokenListName(choice, sha256);
    const list = { region: "DE", window: "day", category, generation: 7, offset: 0, count: 24 } as const;
    const claims = claimsOf(list, 1);
    const token = await signer.sign(claims);
    expect(await verifyToken(token, signer.publicKeys, { now: 60 })).toEqual({ verdict: "valid", claims });
    for (const [seen, name] of [
      [names, listName(choice)],
      [tokens, token],
      [targets, target],
    ] as const) {
      expect([name, seen.get(name) ?? key]).toEqual([name, key]);
      seen.set(name, key);
    }
  }
  expect(names.size).toBeGreaterThan(100);
});

/** A category that is like the name of another list, or a kind. */
function drawChoice(): ListChoice {
  const language = random.pick(["de", "en", "gsw", "fil"]);
  const likeNames = [
    "",
    "#",
    "#language:",
    "#language",
    "#LANGUAGE:",
    `#language:${language}`,
    "#language:live=now",
  ];
  const kind = random.pick([
    { language },
    { audience: "kids" },
    { live: "now" },
    { duration: random.pick(["short", "long"]) },
  ]);
  const category = `${random.pick(likeNames)}${random.pick([language, "", "/", "é", "x".repeat(45)])}`;
  const hashed = `#${sha256(category).slice(0, 22)}`;
  return random.pick<ListChoice>([kind, {}, { category: category || "a" }, { category: hashed }]);
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64url");
}

const { fresh, stale, browserFresh, browserStale } = answerSeconds;
const readingSeconds = 600; // which a reader has for a page before its `next` is followed

test.each([
  ["the next page of it may be asked for", fresh + stale + browserFresh + browserStale + readingSeconds],
  ["messages about its ranks are taken", viewsAcceptedSeconds],
])("the writer keeps a generation for as long as %s", (_reason, seconds) => {
  const path = Bun.fileURLToPath(import.meta.resolve("../writer/src/Cli/Settings.php"));
  const [, kept] = /GENERATION_RETENTION_HOURS = (.+?);/.exec(readFileSync(path, "utf8")) ?? [];
  expect(3600 * Number(kept)).toBeGreaterThanOrEqual(seconds);
});
