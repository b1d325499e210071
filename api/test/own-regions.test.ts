import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPageHead } from "@trendvault/contract/page";
import { styleOf, useRegions } from "@trendvault/contract/regions";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { until } from "@trendvault/kit/machine";
import { openTestOrigin } from "@trendvault/kit/origin";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { allMessages } from "../../web/client/src/view/locales/all.ts";
import { Store } from "../src/database/store.ts";
import { readKeyFiles } from "../src/key-files.ts";

const builders: DatabaseBuilder[] = [];
const processes: OriginProcess[] = [];

afterEach(async () => {
  useRegions(null);
  for (const running of processes.splice(0)) await running.remove();
  for (const builder of builders.splice(0)) builder.remove();
});

const guide = readFileSync(join(import.meta.dir, "../../docs/regions.md"), "utf8");
const gb = { code: "GB", name: "Britain", languages: ["pl"] };
const pl = { code: "PL", name: "Poland", languages: ["cy", "de-AT"] };

function tableOf(...regions: object[]): string {
  return JSON.stringify({ default: "PL", regions });
}

/** `music`: the regions with a list of a category. */
function publish(codes: readonly string[], music: readonly string[] = []): DatabaseBuilder {
  const builder = new DatabaseBuilder();
  builders.push(builder);
  const listOf = (region: string) => ({ region, videos: videos(3, region.toLowerCase()) });
  const lists = music.map((region) => ({ ...listOf(region), category: "Music" }));
  builder.publishRegions([...codes.map(listOf), ...lists], { codes });
  return builder;
}

test("an origin has the regions of its deployment, and passes over others that were published", async () => {
  const builder = publish(["DE", "GB", "PL"]);
  const origin = await openTestOrigin(builder.path, { REGIONS_TABLE: tableOf(pl, gb) });
  // biome-ignore lint/suspicious/noExplicitAny: each assertion says which form is expected
  const read = async (path: string) => (await origin.ask(path)).json() as Promise<any>;
  const { regions } = await read("/api/regions");
  expect(regions.map(({ code, name }: typeof gb) => [code, name])).toEqual([
    ["PL", "Poland"],
    ["GB", "Britain"],
  ]);
  expect((await read("/api/trending")).region).toBe("PL");
  expect((await read("/api/trending?region=DE")).detail).toBe("region: expected one of PL, GB");
  expect((await origin.ask("/feeds/DE.json")).status).toBe(404);
  expect((await read("/feeds/PL.json")).language).toBe("de");
  expect((await read("/openapi.json")).components.schemas.Region.enum).toEqual(["PL", "GB"]);
  origin.watcher.close();
});

test("a database that has lists of other regions only is refused, with both", () => {
  const builder = publish(["DE", "FR"]);
  useRegions(JSON.parse(tableOf(pl)));
  const store = Store.open(builder.path);
  expect(() => store.newestGeneration()).toThrow(
    "Cannot serve the regions DE, FR, since there are PL: REGIONS_FILE must name the writer's file",
  );
  store.close();
});

test("pages and feeds have what the site says of itself, and their policy allows no more than that", async () => {
  const site = {
    name: "Kanal <Eins>",
    logo: "https://img.example/logo.svg",
    colours: { light: { accent: "#00629b" } },
    imprint_url: "https://site.example/imprint",
    report_url: "https://site.example/report/{id}?from=list",
  };
  const builder = publish(["GB"]);
  const origin = await openTestOrigin(builder.path, { REGIONS_TABLE: JSON.stringify({ site }) });
  for (const path of ["/?region=GB", "/about"]) {
    const response = await origin.ask(path);
    const html = await response.text();
    const css = /<style>(.+?)<\/style>/.exec(html)?.[1] ?? "";
    expect(css).toBe(styleOf(site));
    const hash = new Bun.CryptoHasher("sha256").update(css).digest("base64");
    const policy = response.headers.get("content-security-policy");
    expect(policy).toContain(`style-src 'self' 'sha256-${hash}'; img-src 'self' img.example;`);
    expect(readPageHead(html)?.policy).toBe(policy?.replace("; frame-ancestors 'none'", "") ?? "");
    expect(html).toContain('src="https://img.example/logo.svg"');
    expect(html).toContain('<a href="https://site.example/imprint">Imprint</a>');
    expect(html).toContain("Kanal &lt;Eins&gt;</a>");
  }
  const page = await (await origin.ask("/?region=GB")).text();
  expect(page).toContain('href="https://site.example/report/gb1?from=list"');
  expect(page).toContain("Pictures come from img.example, where your address is seen.");
  const feed = await (await origin.ask("/feeds/GB.json")).json();
  expect(feed).toMatchObject({
    title: "Trending: United Kingdom · Next 24 hours – Kanal <Eins>",
    icon: site.logo,
  });
  expect(await (await origin.ask("/feeds/GB.atom")).text()).toContain("<name>Kanal &lt;Eins&gt;</name>");
  origin.watcher.close();
});

test("a page calls a category as the site does in its language, else as we do", async () => {
  const builder = new DatabaseBuilder();
  builders.push(builder);
  const lists = ["Music", "Comedy", "Ours"].map((category) => ({
    region: "GB",
    category,
    videos: videos(1),
  }));
  builder.publish([{ region: "GB", videos: videos(3) }, ...lists]);
  const site = {
    name: "Kanal",
    categories: { Music: { names: { de: "Tonkunst" } }, Ours: { also: ["Nous"] } },
  };
  const origin = await openTestOrigin(builder.path, { REGIONS_TABLE: JSON.stringify({ site }) });
  const read = async (query: string) => (await origin.ask(`/?region=GB${query}`)).text();
  const german = await read("&lang=de&category=Music");
  for (const name of ["Tonkunst", "Comedy", "Ours"]) expect(german).toContain(`>${name}</a>`);
  expect(german).toMatch(/<title>[^<]* · Tonkunst/);
  expect(german).toContain(`"categories":{"Music":{"names":{"de":"Tonkunst"}},"Ours":{}}`);
  expect(await read("&category=Music")).toMatch(/<title>[^<]* · Music/);
  origin.watcher.close();
});

describe("the address that a site names", () => {
  const accept = "text/html";
  async function openNamed(site: object | undefined) {
    const table = site && {
      default: "GB",
      regions: [
        { ...gb, languages: ["en"] },
        { ...pl, languages: ["pl"] },
      ],
      site,
    };
    return openTestOrigin(
      publish(["GB", "PL"], ["PL"]).path,
      table ? { REGIONS_TABLE: JSON.stringify(table) } : {},
    );
  }

  test("is in what search engines and those who share a page read, whatever host a request names", async () => {
    const origin = await openNamed({ name: "Kanal", public_url: "https://lists.example/" });
    const ask = async (target: string) =>
      (await origin.ask(target, { headers: { accept, host: "evil.example" } })).text();
    const html = await ask("/?region=PL&lang=de");
    const head = html.slice(0, html.indexOf("</head>"));
    const address = "https://lists.example/?region=PL";
    for (const link of [
      `rel="canonical" href="${address}&amp;lang=de"`,
      `rel="alternate" hreflang="pl" href="${address}"`,
      `rel="alternate" hreflang="ar" href="${address}&amp;lang=ar"`,
      `rel="alternate" hreflang="x-default" href="${address}"`,
      `property="og:url" content="${address}&amp;lang=de"`,
      'property="og:site_name" content="Kanal"',
      'name="description" content="1. Title of pl1 · 2. ',
    ])
      expect(head).toContain(link);
    const [, data = ""] =
      /<script type="application\/ld\+json" id="list-items">(.*?)<\/script>/.exec(head) ?? [];
    const { url, itemListElement: items } = JSON.parse(data);
    expect([url, items[0].position, items[0].name]).toEqual([`${address}&lang=de`, 1, "Title of pl1"]);
    expect(await ask("/?region=PL&category=Music")).not.toContain('rel="alternate" hreflang');
    const sitemap = await ask("/sitemap.xml");
    const pages = [...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, page = ""]) =>
      page.replaceAll("&amp;", "&"),
    );
    expect(pages.filter((page) => page.includes("category"))).toEqual([`${address}&category=Music`]);
    expect(pages.length).toBeGreaterThan(20);
    for (const page of pages) {
      const { status } = await origin.ask(page.replace("https://lists.example", ""));
      expect([page, status]).toEqual([page, 200]);
    }
    expect(await ask("/robots.txt")).toContain("Sitemap: https://lists.example/sitemap.xml");
    expect(html + sitemap).not.toContain("evil.example");
    const oembed =
      /href="([^"]*)" type="application\/json\+oembed"/.exec(head)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect((await origin.ask(oembed.replace("https://lists.example", ""))).status).toBe(200);
    expect((await origin.ask(oembed.slice(21).replace("lists.example", "evil.example"))).status).toBe(404);
    expect((await origin.ask(`${oembed.slice(21)}&format=xml`)).status).toBe(501);
    expect((await origin.ask("/oembed")).status).toBe(400);
    origin.watcher.close();
  });

  test("is left out where it names none", async () => {
    const origin = await openNamed(undefined);
    const html = await (await origin.ask("/?region=GB")).text();
    const head = html.slice(0, html.indexOf("</head>"));
    for (const link of ["canonical", "hreflang", "og:", "ld+json", "oembed"])
      expect(head).not.toContain(link);
    const page = encodeURIComponent("https://evil.example/?region=GB");
    for (const path of ["/robots.txt", "/sitemap.xml", `/oembed?url=${page}`])
      expect([path, (await origin.ask(path)).status]).toEqual([path, 404]);
    const icon = await origin.ask("/favicon.ico");
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    origin.watcher.close();
  });
});

test("a person who goes wrong sees a page of the site in a language of their browser, and a program a problem", async () => {
  const builder = publish(["GB"]);
  const site = { name: "Kanal", colours: { light: { accent: "#00629b" } } };
  const origin = await openTestOrigin(builder.path, { REGIONS_TABLE: JSON.stringify({ site }) });
  const accept = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";
  const cases: [string, string, number, string][] = [
    ["/nothing", "xx, en;q=0.8, de-AT;q=0.9", 404, "Hier ist nichts"],
    ["/assets/page-00000000.js", "fr", 404, "Il n’y a rien ici"],
    ["/?region=XX", "", 400, "This address is not understood"],
    ["/?region=XX&lang=fr", "de", 400, "Cette adresse n’est pas comprise"],
    ["/?region=GB&cursor=9-24", "pl", 410, "Tu nic nie ma"],
    ["/embed?live=now", "de", 400, "Diese Adresse ist nicht verständlich"],
    ["/embeds?live=now", "fr", 404, "Il n’y a rien ici"],
  ];
  for (const [path, languages, status, title] of cases) {
    const page = await origin.ask(path, { headers: { accept, "accept-language": languages } });
    const html = await page.text();
    expect([path, page.status, page.headers.get("content-type")]).toEqual([
      path,
      status,
      "text/html; charset=utf-8",
    ]);
    expect(html).toContain(`<h1>${title}</h1>`);
    expect(html).toContain(">Kanal</a>");
    const policy = page.headers.get("content-security-policy");
    expect(policy).toContain("'sha256-");
    expect([path, policy?.includes("frame-ancestors")]).toEqual([path, !path.startsWith("/embed?")]);
    expect([page.headers.get("cache-control"), page.headers.get("signature")]).toEqual(["no-store", null]);
    expect(page.headers.get("vary")).toBe("Accept, Accept-Language");
    const problem = await origin.ask(path);
    expect([problem.status, problem.headers.get("content-type")]).toEqual([
      status,
      "application/problem+json",
    ]);
    expect(problem.headers.get("vary")).toBe("Accept");
    const refused = await origin.ask(path, { headers: { accept: "text/html;q=0" } });
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
  }
  const api = await origin.ask("/api/nothing", { headers: { accept } });
  expect([api.headers.get("content-type"), api.headers.get("vary")]).toEqual([
    "application/problem+json",
    null,
  ]);
  origin.watcher.close();
});

describe("a language of the site's own", () => {
  const hebrew = { ...pl, languages: ["yi", "he-IL", "en"] };
  const [, words = ""] = /```json\n(\{\n {2}"dir": "rtl".*?)```/s.exec(guide) ?? [];

  /** An origin with the guide's five Hebrew words, from files beside its database. */
  async function openHebrew(text = words) {
    const builder = publish(["GB", "PL"]);
    const site = { name: "Kanal", public_url: "https://lists.example" };
    const table = {
      default: "GB",
      regions: [{ ...gb, languages: ["en"] }, hebrew],
      site,
      languages: { he: "he.json" },
    };
    writeFileSync(join(builder.folder, "he.json"), text);
    const file = join(builder.folder, "regions.json");
    writeFileSync(file, JSON.stringify(table));
    const { values, failures } = readKeyFiles({ REGIONS_FILE: file });
    if (failures[0] !== undefined) throw new Error(failures[0].message.replaceAll(builder.folder, ""));
    const origin = await openTestOrigin(builder.path, { REGIONS_TABLE: values.REGIONS_TABLE ?? "" });
    const ask = async (path: string, fields = {}) =>
      (await origin.ask(path, { headers: { accept: "text/html", ...fields } })).text();
    return { origin, ask };
  }

  test("is the page's of its region, and of others by name, with English for the words that it lacks", async () => {
    const { origin, ask } = await openHebrew();
    for (const path of ["/?region=PL", "/?region=GB&lang=he", "/embed?region=PL"]) {
      const html = await ask(path);
      expect([path, html.includes('<html lang="he" dir="rtl">')]).toEqual([path, true]);
      expect(html).toContain("סרטונים חמים: ");
      expect(html).toContain("Why here?");
    }
    const page = await ask("/?region=PL");
    expect(page).toContain(
      'href="/?region=PL" data-pick="" lang="he" hreflang="he" aria-current="true">עברית</a>',
    );
    expect(page).toContain('hreflang="he" href="https://lists.example/?region=PL"');
    expect(page).toContain('href="/about#he"');
    expect(await ask("/?region=GB")).toContain('href="/?region=GB&amp;lang=he"');
    const about = await ask("/about");
    expect(about).toMatch(
      /<article id="he" lang="he" dir="rtl">.*חזרה לרשימה.*What counts, the most important first/s,
    );
    expect(await ask("/nothing", { "accept-language": "yi, he;q=0.9" })).toContain("<h1>אין כאן כלום</h1>");
    expect(await ask("/feeds/PL.json")).toContain('"title":"סרטונים חמים: פולין · Next 24 שעות – Kanal"');
    expect(await ask("/?region=GB&lang=yi", { accept: "*/*" })).toContain("cs, ar, he");
    origin.watcher.close();
  });

  test("comes with its words for scripts: with its pages, and for the element in /api/about", async () => {
    const { origin, ask } = await openHebrew();
    const dataOf = (html: string) =>
      JSON.parse(/<script type="application\/json" id="page-data">(.*?)<\/script>/.exec(html)?.[1] ?? "");
    const own = { dir: "rtl", trending: "סרטונים חמים", whySeen: allMessages.en.whySeen };
    const { words } = dataOf(await ask("/?region=PL"));
    expect(words.he).toMatchObject(own);
    expect(words.he).not.toHaveProperty("aboutBack");
    expect(dataOf(await ask("/?region=GB")).words).toEqual({ he: null });
    expect(JSON.parse(await ask("/api/about")).languages.he).toEqual(words.he);
    origin.watcher.close();
  });

  test("with a mistake keeps the origin from starting, which says in which file and at which word", async () => {
    await expect(openHebrew(JSON.stringify({ dir: "rtl", up: "עלה" }))).rejects.toThrow(
      "languages.he (/he.json): up: expected the arguments of “up {n}”",
    );
  });
});

test("SIGHUP reads the file of the regions again; one with a mistake leaves those of before, and unknown words are told", async () => {
  const builder = publish(["GB", "PL"]);
  const file = join(builder.folder, "regions.json");
  const languages = { he: "he.json" };
  writeFileSync(join(builder.folder, "he.json"), '{"dir": "rtl", "mor": "עוד"}');
  writeFileSync(file, JSON.stringify({ default: "PL", regions: [gb, pl], languages }));
  const running = await OriginProcess.start(builder.path, { REGIONS_FILE: file });
  processes.push(running);
  const told = () => running.lines.filter(({ event }) => event === "word_left_out");
  await until(() => told().length > 0);
  expect(told()[0]?.message).toContain("he.json): mor: unknown");
  const codes = async () => {
    const response = await fetch(`${running.url}api/regions`, { keepalive: false }); // its worker may be gone
    const { regions } = (await response.json()) as { regions: { code: string }[] };
    return regions.map(({ code }) => code).join();
  };
  expect(await codes()).toBe("GB,PL");
  await until(async () => (await running.readiness()).status === "ok");
  const isRejected = (why: RegExp) => async () =>
    (await running.readiness()).reasons.some((reason) => why.test(reason));
  writeFileSync(file, tableOf(gb)); // without its default
  running.kill("SIGHUP");
  await until(isRejected(/PL is none of/));
  writeFileSync(file, JSON.stringify({ default: "PL", regions: [gb, pl], "half\ud800": 1 })); // of a character
  running.kill("SIGHUP");
  await until(isRejected(/half\ufffd: unknown/));
  const { reasons } = await running.readiness();
  expect(reasons).toContainEqual(expect.stringMatching(/^A file of keys or regions cannot be used/));
  expect(await codes()).toBe("GB,PL");
  writeFileSync(file, JSON.stringify({ default: "PL", regions: [pl], site: { name: "Kanal" }, languages }));
  running.kill("SIGHUP");
  await until(async () => (await codes().catch(() => "")) === "PL");
  const page = async () => (await fetch(`${running.url}?region=PL`, { keepalive: false })).text();
  await until(async () => (await page().catch(() => "")).includes("– Kanal</title>")); // the worker before may answer, too
  await until(async () => (await running.readiness()).status === "ok");
  expect(told()).toHaveLength(2); // not by each worker
}, 1_200_000);

test("an origin that cannot use the file of its regions says why, and what is expected", async () => {
  const builder = publish(["GB"]);
  const file = join(builder.folder, "regions.json");
  writeFileSync(file, tableOf({ ...pl, languages: [] }));
  const { code, stderr } = await OriginProcess.refuse(builder.path, { REGIONS_FILE: file });
  expect(code).toBe(1);
  expect(stderr).toContain("REGIONS_FILE: regions[0].languages: expected 1 to 10 BCP 47 tags");
  expect(stderr).toContain("Example: REGIONS_FILE=/etc/trendvault/regions.json");
});
