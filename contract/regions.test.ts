import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { drawsOf, Random } from "@trendvault/kit/random";
import { Ajv2020 } from "ajv/dist/2020";
import builtIn from "../db/regions.json";
import schema from "../docs/regions.schema.json";
import { mainLanguage } from "./page.ts";
import { feedAt, parseTrendingQuery } from "./queries.ts";
import {
  defaultRegion,
  type RegionTable,
  readRegionTable,
  regionCodes,
  regions,
  requireSameRegions,
  type Site,
  styleOf,
  useRegions,
} from "./regions.ts";

const mostRegions = 250;

const root = join(import.meta.dir, "..");
const allows = new Ajv2020().compile(schema);

const three: RegionTable = {
  default: "US",
  regions: [
    { code: "US", name: "United States", languages: ["en-US", "es"], countries: ["PR", "GU"] },
    { code: "CA", name: "Canada", languages: ["ga", "fr-CA", "en"] },
    { code: "JP", name: "Japan", languages: ["ja"] },
  ],
};

const fullSite: Site = {
  name: "Kanal Eins",
  logo: "https://img.example.com/logo.svg",
  colours: { light: { accent: "#00629b" }, dark: { background: "#000000", surface: "#101820" } },
  public_url: "https://trending.example.com",
  imprint_url: "https://example.com/imprint",
  privacy_url: "https://example.com/privacy?for=trending",
  report_url: "https://example.com/report/{id}",
  categories: { Music: { also: ["Musik", "Musique"], names: { de: "Musik", fr: "Musique" } }, News: {} },
};

function changed(change: (table: RegionTable) => void): string {
  const table = structuredClone(three);
  change(table);
  return JSON.stringify(table);
}

describe("a region table", () => {
  test("with every mistake of a kind says where each is", () => {
    const text = changed(({ regions: [us, ca, jp] }) => {
      Object.assign(us ?? {}, { colour: "red", code: "usa" });
      Object.assign(ca ?? {}, { languages: [], countries: ["US", "us"] });
      Object.assign(jp ?? {}, { name: "", languages: ["ja", "japanese!"] });
    });
    expect(() => readRegionTable(text)).toThrow(
      [
        "regions[0].colour: unknown, expected only code, name, languages, countries",
        "regions[0].code: expected an ISO 3166-1 alpha-2 code, like GB",
        "regions[1].languages: expected 1 to 10 BCP 47 tags, each once, the main one first",
        "regions[1].countries: expected ISO 3166-1 alpha-2 codes, each once",
        "regions[2].name: expected an English name of 1 to 100 characters",
        "regions[2].languages: expected 1 to 10 BCP 47 tags, each once, the main one first",
      ].join("\n"),
    );
  });

  const relations: [string, (table: RegionTable) => void, string][] = [
    [
      "a code twice",
      ({ regions }) => Object.assign(regions[2] ?? {}, { code: "US" }),
      "regions[2].code: US is regions[0].code already",
    ],
    [
      "a country in two regions",
      ({ regions }) => Object.assign(regions[2] ?? {}, { countries: ["GU"] }),
      "regions[2].countries: GU is regions[0].countries already",
    ],
    [
      "a country that is a region",
      ({ regions }) => Object.assign(regions[2] ?? {}, { countries: ["CA"] }),
      "regions[2].countries: CA is regions[1].code already",
    ],
    [
      "another default",
      (table) => Object.assign(table, { default: "GB" }),
      "default: GB is none of the regions",
    ],
    [
      "no region",
      (table) => Object.assign(table, { regions: [] }),
      `regions: expected a list of 1 to ${mostRegions} regions`,
    ],
    [
      "too many regions",
      (table) => Object.assign(table, { regions: Array(mostRegions + 1).fill(three.regions[0]) }),
      `regions: expected a list of 1 to ${mostRegions} regions`,
    ],
    [
      "an unknown key",
      (table) => Object.assign(table, { planet: 1 }),
      "planet: unknown, expected only $schema, default, channel_limit, regions",
    ],
  ];

  test.each(relations)("with %s is refused", (_, change, expected) => {
    expect(() => readRegionTable(changed(change))).toThrow(expected);
  });

  test("that is no JSON is refused, and so is a list, as db/regions.json was before", () => {
    expect(() => readRegionTable("{")).toThrow("expected JSON");
    expect(() => readRegionTable("[]")).toThrow('expected an object with "default" and "regions"');
  });

  test("that comes with the program is one", () => {
    expect(readRegionTable(JSON.stringify(builtIn))).toEqual(builtIn);
    expect(allows(builtIn)).toBe(true);
  });

  const random = new Random();
  test(`is judged alike by schema, program and writer, seed ${random.seed}`, async () => {
    const tables = Array.from({ length: drawsOf({ usual: 3000, long: 50_000 }) }, () => drawTable(random));
    const judgements = await judge(tables);
    const accepted = tables.filter((text, index) => {
      const faults = faultsOf(text);
      expect([text, judgements[index]?.toSorted()]).toEqual([text, faults.toSorted()]);
      if (
        faults.length === 0 ||
        faults.every((fault) => / is (none of|regions\[|a name of)| has a contrast /.test(fault))
      )
        expect([text, allows(JSON.parse(text))]).toEqual([text, true]);
      else expect([text, allows(JSON.parse(text))]).toEqual([text, false]);
      return faults.length === 0;
    });
    expect(accepted.length).toBeGreaterThan(tables.length / 20);
    expect(accepted.length).toBeLessThan(tables.length / 2);
  }, 1_200_000); // only a fault takes so long, on a busy machine
});

test.each([
  [{ he: "words/he.json", haw: "haw.json" }, ""],
  [["he"], 'languages: expected an object like {"he": "he.json"}'],
  [{ "zh-Hant": "zh.json" }, "languages.zh-Hant: expected a tag of two or three small letters"],
  [{ he: 1 }, "languages.he: expected a tag of two or three small letters, and the path of a file of words"],
])("the languages %p of a region table: %s", (languages, expected) => {
  const table = { ...three, languages };
  expect(faultsOf(JSON.stringify(table)).join()).toStartWith(expected);
  expect(allows(table)).toBe(expected === "");
});

describe("the site of a region table", () => {
  const read = (site: unknown) => readRegionTable(JSON.stringify({ site }));

  test("needs no regions: they are the built-in ones then", () => {
    expect(read(fullSite)).toEqual({ ...builtIn, site: fullSite });
    expect(allows({ site: fullSite })).toBe(true);
    for (const part of [{ default: "GB" }, { regions: builtIn.regions }]) {
      expect(() => readRegionTable(JSON.stringify({ site: fullSite, ...part }))).toThrow("expected");
      expect(allows({ site: fullSite, ...part })).toBe(false);
    }
  });

  const mistakes: [string, unknown, string][] = [
    ["no object", "Kanal", 'site: expected an object with "name"'],
    ["no name", {}, "site.name: expected a name of 1 to 100 characters"],
    [
      "another member",
      { name: "A", color: "red" },
      "site.color: unknown, expected only name, colours, logo,",
    ],
    ["http", { name: "A", logo: "http://a.example/b.png" }, "site.logo: expected an https URL without user"],
    ["every host", { name: "A", logo: "https://*/b.png" }, "site.logo: expected an https URL"],
    [
      "another host than it seems",
      { name: "A", logo: "https://a.example\\@b.example/" },
      "site.logo: expected",
    ],
    ["a policy", { name: "A", logo: "https://a.example;img-src *" }, "site.logo: expected an https URL"],
    ["a name of spaces", { name: " \u00a0" }, "site.name: expected a name of 1 to 100 characters"],
    ["a name that turns text around", { name: "a\u202eb" }, "site.name: expected a name"],
    [
      "a report of no video",
      { name: "A", report_url: "https://a.example/report" },
      "site.report_url: expected {id} in the place of a video's id",
    ],
    [
      "a path",
      { name: "A", public_url: "https://a.example/b" },
      "site.public_url: expected no more than a host",
    ],
    [
      "a name of a colour",
      { name: "A", colours: { light: { text: "red" } } },
      "site.colours.light.text: expected a colour like",
    ],
    [
      "a pale colour",
      { name: "A", colours: { light: { accent: "#ffcc00" } } },
      "site.colours.light: #ffcc00 on #ffffff has a contrast of 1.51, expected 4.5 or more (WCAG AA)",
    ],
    [
      "a background for which ours are too pale",
      { name: "A", colours: { dark: { background: "#666666" } } },
      "site.colours.dark: #a3abb8 on #666666 has a contrast of 2.48",
    ],
  ];
  for (const [what, site, expected] of mistakes) {
    test(`with ${what} is refused`, () => expect(() => read(site)).toThrow(expected));
  }

  test("has colours for both schemes: those that it does not set are those of the page and the list", async () => {
    expect(styleOf(fullSite)).toBe(
      ":root{--background:light-dark(#ffffff,#000000);--trendvault-background:light-dark(#ffffff,#000000);" +
        "--surface:light-dark(#f3f4f7,#101820);--trendvault-surface:light-dark(#f3f4f7,#101820);" +
        "--accent:light-dark(#00629b,#a5b4fc);--trendvault-accent:light-dark(#00629b,#a5b4fc)}",
    );
    const css = await Promise.all(
      ["web/page/page.css", "web/client/src/view/list.css"].map((path) => Bun.file(join(root, path)).text()),
    );
    for (const name of ["background", "surface", "text", "muted", "accent"]) {
      const drawn = (scheme: string) => styleOf({ name: "A", colours: { [scheme]: { [name]: "#123456" } } });
      const light = /dark\((#\w+),/.exec(drawn("dark"))?.[1]?.replace("#ffffff", "#fff");
      const dark = /,(#\w+)\)/.exec(drawn("light"))?.[1];
      const own = css.filter((text) => new RegExp(`--${name}[:,]`).test(text));
      expect(own.map((text) => [name, text.includes(`light-dark(${light}, ${dark})`)])).toEqual(
        own.map(() => [name, true]),
      );
      expect(own.length).toBeGreaterThan(0);
    }
  });
});

function faultsOf(text: string): string[] {
  try {
    readRegionTable(text);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n");
  }
}

async function judge(tables: string[]): Promise<string[][]> {
  const program = join(root, "writer/tests/Support/judge.php");
  const input = new Blob(tables.map((table) => `${table}\n`));
  const php = Bun.spawn(["php", program, "regions"], { stdin: input, stdout: "pipe", stderr: "inherit" });
  return (await php.stdout.text())
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** A table with up to three changes, of which some are mistakes. */
function drawTable(random: Random): string {
  const table = structuredClone({ ...three, site: drawSite(random) }) as unknown as Record<string, unknown>;
  const rows = table.regions as unknown[];
  for (let changes = random.below(4); changes > 0; changes--) {
    const row = Object(random.pick(rows)) as Record<string, unknown>;
    const [of, keys] = random.below(5) === 0 ? [table, keysOfTable] : [row, keysOfRegion];
    const key = random.pick(keys);
    if (random.below(6) === 0) delete of[key];
    else if (random.below(12) === 0) rows[random.below(rows.length)] = drawValue(random);
    else of[key] = (drawsOfKey[random.below(4) === 0 ? "" : key] ?? drawValue)(random);
  }
  return JSON.stringify(table);
}

/** In one of three, a site with up to two changes, of which some are mistakes. */
function drawSite(random: Random): unknown {
  if (random.below(3) > 0) return undefined;
  if (random.below(20) === 0) return drawValue(random);
  const site: Record<string, unknown> = structuredClone(fullSite);
  for (let changes = random.below(3); changes > 0; changes--) {
    const key = random.pick([...Object.keys(fullSite), "colour"]);
    if (random.below(6) === 0) delete site[key];
    else site[key] = (drawsOfSite[key] ?? drawAddress)(random);
  }
  return site;
}

const drawAddress = (random: Random): unknown => random.pick(addresses);

const drawsOfSite: Record<string, (random: Random) => unknown> = {
  name: (random) => random.pick(names),
  colours: drawColours,
  categories: drawCategories,
};

function drawCategories(random: Random): unknown {
  if (random.below(8) === 0) return drawValue(random);
  const name = () =>
    random.pick(["Music", "7", "Musik", "é".repeat(60), ...names, "b".repeat(61), "#language:de"]);
  const good = () => random.pick(["Music", "Musik", "7", "A", "Sport"]);
  const pick = random.below(3) === 0 ? name : good;
  const list = () => Array.from({ length: random.below(4) }, pick);
  const entry = () =>
    random.pick<unknown>([
      {},
      { also: list() },
      { also: list(), names: { [random.pick(["de", "fil", "de", "DE", "de-AT", "1"])]: pick() } },
      random.below(6) === 0 ? drawValue(random) : { names: {} },
      random.below(6) === 0 ? { other: 1 } : {},
    ]);
  return Object.fromEntries(Array.from({ length: random.below(4) }, () => [pick(), entry()]));
}

function drawColours(random: Random): unknown {
  if (random.below(8) === 0) return drawValue(random);
  const draw = () =>
    random.pick(["#ffffff", "#767676", "#4338CA", "#666666", "#000000", "red", null, [], {}]);
  const name = random.pick(["background", "surface", "text", "muted", "accent", "link"]);
  return { [random.pick(["light", "dark", "dim"])]: random.pick([{ [name]: draw() }, {}, null, "#ffffff"]) };
}

const addresses = [
  "https://a.example",
  "https://a.example/",
  "https://a.example/{id}?a=b#c",
  "https://A_b-c.example:8443/{id}",
  "https://a.example:80000/",
  "https://a.example?",
  "https://*/",
  "https://1.2.3.4/",
  "https://a..example/",
  "https://u@a.example/",
  "https://a.example/é",
  "https://a.example/a;b",
  `https://a.example/{id}${"a".repeat(500)}`,
  "http://a.example/",
  "//a.example",
  1,
  null,
];

const names = [
  "A",
  "Côte d’Ivoire",
  "\u{1f3ac}".repeat(100),
  "a".repeat(101),
  "a\n",
  "a\u0085b",
  "",
  " ",
  "\u00a0 \u3000",
  "\u200b",
  "a\u202eb",
  "a\u2067b",
  "\u05e9\u05dc\u05d5\u05dd",
  "!",
];

const keysOfTable = ["default", "regions", "channel_limit", "$schema", "1"];
const keysOfRegion = ["code", "name", "languages", "countries", "colour"];
const codes = ["US", "CA", "JP", "GB", "XK", "us", "USA", "U1", "", "É"];
const tags = [
  "en",
  "pt-BR",
  "zh-Hant-TW",
  "sr-Latn",
  "e",
  "en_US",
  "english-language-that-is-far-too-long",
  "de-",
  "ga",
];

const drawsOfKey: Record<string, (random: Random) => unknown> = {
  default: (random) => random.pick(codes),
  code: (random) => random.pick(codes),
  name: (random) => random.pick(names),
  languages: (random) => Array.from({ length: random.below(12) % 5 }, () => random.pick(tags)),
  countries: (random) => Array.from({ length: random.below(4) }, () => random.pick(codes)),
  channel_limit: (random) => {
    const [videos, ranks] = [random, random].map((draws) =>
      draws.pick([-1, 0, 1, 3, 24, 500, 501, 2.5, "3", null]),
    );
    return random.pick([
      { videos, within_ranks: ranks },
      { videos },
      { videos, within_ranks: ranks, off: true },
    ]);
  },
  $schema: (random) => random.pick(["docs/regions.schema.json"]),
};

function drawValue(random: Random): unknown {
  return random.pick([
    null,
    true,
    1,
    1.5,
    "",
    "US",
    [],
    {},
    ["US"],
    { 0: "en" },
    { code: "FR" },
    [null],
    [["en"]],
  ]);
}

describe("a program that was given regions of its own after it was loaded", () => {
  afterEach(() => useRegions(null));

  test("has these everywhere", () => {
    useRegions(three);
    expect([regionCodes, defaultRegion, regions]).toEqual([["US", "CA", "JP"], "US", three.regions]);
    expect(parseTrendingQuery("").query?.region).toBe("US");
    expect(parseTrendingQuery("region=ca").query?.region).toBe("CA");
    expect(parseTrendingQuery("region=GB").invalid).toEqual([
      { name: "region", detail: "expected one of US, CA, JP" },
    ]);
    expect([feedAt("/feeds/JP.json")?.region, feedAt("/feeds/GB.json")]).toEqual(["JP", null]);
  });

  test("has its pages in the first language that there are words of, else in English", () => {
    useRegions(three);
    expect(regionCodes.map(mainLanguage)).toEqual(["en", "fr", "en"]);
  });

  test("has those that are built in when they are taken away again", () => {
    useRegions(three);
    useRegions(null);
    expect([defaultRegion, regionCodes.length, regions]).toEqual(["GB", 14, builtIn.regions]);
  });
});

test("as many regions as there may be, each with its countries' share and long names, fit in the file", () => {
  const regions = Array.from({ length: mostRegions }, (_, index) => ({
    code: String.fromCharCode(65 + Math.floor(index / 26), 65 + (index % 26)),
    name: "An island with a name of forty characters",
    languages: ["zh-Hant-TW", "en", "fr"],
  }));
  const text = JSON.stringify({ default: "AA", regions });
  expect(readRegionTable(text).regions).toHaveLength(mostRegions);
  expect(text.length).toBeLessThan(65_536);
});

const servers: Bun.Server<undefined>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

type EdgeOptions = { own: string; published: string[]; notReady?: number; languages?: object };

/** An edge that has some regions and the language he, in front of an origin that has some, and is not ready at first. */
function edge({ own, published, notReady = 0, languages = {} }: EdgeOptions) {
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      if (asked++ < notReady) return new Response("{}", { status: 503 });
      const { pathname, search } = new URL(url);
      if (pathname === "/api/regions") return Response.json({ regions: published.map((code) => ({ code })) });
      if (pathname === "/api/about") return Response.json({ languages });
      if (pathname + search === "/?lang=none")
        return Response.json(
          { invalid: [{ name: "lang", detail: "expected one of en, he" }] },
          { status: 400 },
        );
      if (pathname + search !== "/api/trending?region=none") return new Response("{}", { status: 404 });
      const invalid = [{ name: "region", detail: `expected one of ${own}` }];
      return Response.json({ invalid }, { status: 400 });
    },
  });
  servers.push(server);
  return { url: server.url.href, asked: () => asked };
}

test("an edge with the regions that are published is right, also when its origin was busy at first", async () => {
  const { url } = edge({ own: "US, CA", published: ["US", "CA"], notReady: 5 });
  expect(await requireSameRegions(url, { pauseMs: 1 })).toBe("US, CA");
});

test("an edge with others, or in another order, is refused with both", async () => {
  for (const own of ["US", "US, CA, JP", "CA, US"]) {
    const { url } = edge({ own, published: ["US", "CA"] });
    await expect(requireSameRegions(url)).rejects.toThrow(
      `The edge was built for the regions ${own}, and those at ${url}api/regions are US, CA.`,
    );
  }
});

test("an edge that lacks a language of the site's own is refused", async () => {
  const regions = { own: "US", published: ["US"] };
  expect(await requireSameRegions(edge({ ...regions, languages: { he: {} } }).url)).toBe("US");
  const { url } = edge({ ...regions, languages: { he: {}, yi: {}, h: {} } });
  await expect(requireSameRegions(url)).rejects.toThrow(
    "The edge was built without the languages yi, h. Build",
  );
});

test("an edge that never becomes ready is asked a bounded number of times", async () => {
  const { url, asked } = edge({ own: "US", published: ["US"], notReady: 1e9 });
  const asking = requireSameRegions(url, { attempts: 4, pauseMs: 1 });
  await expect(asking).rejects.toThrow("answered with status 503");
  expect(asked()).toBeWithin(4, 9); // of both that are asked for, one is over first
});

test("what is asked for in vain ends with its signal", async () => {
  const { url } = edge({ own: "US", published: ["US"], notReady: 1e9 });
  const stop = new AbortController();
  const asking = requireSameRegions(url, { signal: stop.signal });
  stop.abort();
  await expect(asking).rejects.toThrow();
});
