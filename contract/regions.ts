import builtIn from "@trendvault/contract/default-regions";
import { paths } from "./paths.ts";

// These change when a program calls useRegions(): whatever it loads reads them when it needs them, and derives nothing
// of them while modules load. So it does not matter when useRegions() is called, as long as it is before the first request.

/** The regions in the order of their file. */
export let regions: readonly Region[];

export let regionCodes: readonly string[];

/** The region of a request that names none and whose country the edge does not know. */
export let defaultRegion: string;

let byCode: ReadonlyMap<string, Region>;

/** What a program without a setting has. */
export const builtInRegions: RegionTable = builtIn;

/** What a deployment names of its own; null: nothing. Its regions may be those that are built in. */
export let ownRegions: RegionTable | null;

useRegions(null);

/** Replaces the regions of this program by those of a deployment; null: by those that are built in. */
export function useRegions(table: RegionTable | null): void {
  ownRegions = table;
  ({ regions, default: defaultRegion } = table ?? builtIn);
  byCode = new Map(regions.map((region) => [region.code, region]));
  regionCodes = [...byCode.keys()];
}

/** Where visitors find the page, without a slash at its end; null: nobody has said. */
export function publicUrl(): string | null {
  const url = (ownRegions ?? builtInRegions).site?.public_url;
  return url === undefined ? null : new URL(url).origin;
}

/** The region with a code, or undefined. */
export function findRegion(code: string): Region | undefined {
  return byCode.get(code);
}

/** A region as a deployment names it. */
export type Region = {
  /** ISO 3166-1 alpha-2. */
  code: string;
  /** In English. */
  name: string;
  /** BCP 47, the main one first; at least one. */
  languages: string[];
  /** Countries whose visitors get this region, besides its own (ISO 3166-1 alpha-2). */
  countries?: string[];
};

/** The regions of a deployment: what db/regions.json holds, or the file of REGIONS_FILE (docs/regions.schema.json). */
export type RegionTable = {
  /** The code of the region of visitors whose country is unknown or falls to none. */
  default: string;
  /** How many videos of one channel are within the first ranks of a list; the writer reads it. */
  channel_limit?: { videos: number; within_ranks: number };
  regions: readonly Region[];
  site?: Site;
  /**
   * Languages of the page that are not built in, by tag: the path of a file of words, or the words, which a program that
   * shows them puts in its place.
   */
  languages?: Readonly<Record<string, unknown>> | undefined;
};

/** What a site says of itself: the member `site` of that file. */
export type Site = {
  name: string;
  /** The URL of a picture. */
  logo?: string;
  colours?: Partial<Record<(typeof schemes)[number], Partial<Record<ColourName, string>>>>;
  /** Where visitors find the page, without a path. */
  public_url?: string;
  imprint_url?: string;
  privacy_url?: string;
  /** Where a video can be reported, with `{id}` in the place of its id. */
  report_url?: string;
  /** By their names in lists: what sources call them, too, which the writer reads, and what the page does, by language. */
  categories?: Record<string, { also?: string[]; names?: Record<string, string> }>;
};

type ColourName = (typeof colourNames)[number];

/** The style sheet of a site's colours; "" for one that sets none. Page and list name their colours alike. */
export function styleOf({ colours = {} }: Site): string {
  const rules = colourNames.flatMap((name) => {
    if (schemes.every((scheme) => colours[scheme]?.[name] === undefined)) return [];
    const [light, dark] = schemes.map((scheme) => colours[scheme]?.[name] ?? defaults[scheme][name]);
    return ["", "trendvault-"].map((prefix) => `--${prefix}${name}:light-dark(${light},${dark})`);
  });
  return rules.length === 0 ? "" : `:root{${rules.join(";")}}`;
}

const schemes = ["light", "dark"] as const;

/** As page.css and list.css have them; a test compares. */
const defaults = {
  light: { background: "#ffffff", surface: "#f3f4f7", text: "#16181d", muted: "#5b6270", accent: "#4338ca" },
  dark: { background: "#14161a", surface: "#1f232a", text: "#eceef2", muted: "#a3abb8", accent: "#a5b4fc" },
} as const;
const ofRankChanges = { light: ["#0a6b38", "#a8321f"], dark: ["#62d394", "#ff9d8a"] } as const;

const leastContrast = 4.5; // WCAG 2.2, 1.4.3

const urlNames = ["logo", "public_url", "imprint_url", "privacy_url", "report_url"] as const;
const colourNames = ["background", "surface", "text", "muted", "accent"] as const;

/** As many as ISO 3166-1 has codes, with XK. The numbers of generations leave room for 256 (docs/operations/scale.md). */
const mostRegions = 250;
const mostLanguages = 10;
const mostRanks = 500; // as many as a list has
const mostFaults = 20; // that are said at once
const mostCategories = 100;
const mostSpellings = 50;

const codePattern = /^[A-Z]{2}$/;
const languagePattern = /^(?=.{2,35}$)[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/; // langtag of RFC 5646, without grandfathered ones

/** Reads the text of a region table; one without regions has the built-in ones. @throws Error with a line for each mistake: where it is, and what was expected */
export function readRegionTable(text: string): RegionTable {
  const faults = faultsOf(parse(text));
  if (faults.length === 0) return { ...builtIn, ...(JSON.parse(text) as Partial<RegionTable>) };
  const more = faults.length - mostFaults;
  throw new Error([...faults.slice(0, mostFaults), ...(more > 0 ? [`and ${more} more`] : [])].join("\n"));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Shapes first: what stands in relation to what is only looked at where all of it is of the right form. */
function faultsOf(table: unknown): string[] {
  if (table === undefined) return ["expected JSON"];
  if (!isObject(table)) return ['expected an object with "default" and "regions"'];
  const { default: code, channel_limit: limit, regions, site, languages = {} } = table;
  const known = ["$schema", "default", "channel_limit", "regions", "site", "languages"];
  const faults = [...unknownKeys(table, known, ""), ...languagesFaults(languages)];
  if (site !== undefined) faults.push(...siteFaults(site));
  const isBuiltIn = code === undefined && regions === undefined;
  if (!isBuiltIn && !isCode(code)) faults.push("default: expected the code of one of the regions, like GB");
  if (limit !== undefined && !isChannelLimit(limit))
    faults.push(
      `channel_limit: expected "videos", from 1 to ${mostRanks}, and "within_ranks", from 0 to ${mostRanks}`,
    );
  if (isBuiltIn) return faults;
  faults.push(...listFaults(regions));
  return faults.length > 0 ? faults : relationFaults(table as RegionTable);
}

/** Their files are looked at where they are read: web/client/src/view/locales/all.ts. */
function languagesFaults(languages: unknown): string[] {
  if (!isObject(languages)) return ['languages: expected an object like {"he": "he.json"}'];
  const bad = Object.entries(languages).filter(
    ([tag, words]) => !/^[a-z]{2,3}$/.test(tag) || !(isObject(words) || typeof words === "string"),
  );
  return bad.map(
    ([tag]) =>
      `languages.${tag}: expected a tag of two or three small letters, and the path of a file of words`,
  );
}

function listFaults(regions: unknown): string[] {
  if (!Array.isArray(regions) || regions.length === 0 || regions.length > mostRegions)
    return [`regions: expected a list of 1 to ${mostRegions} regions`];
  return regions.flatMap((region, index) => shapeFaults(region, `regions[${index}]`));
}

function shapeFaults(region: unknown, at: string): string[] {
  if (!isObject(region)) return [`${at}: expected an object with "code", "name" and "languages"`];
  const { code, name, languages, countries = [] } = region;
  const faults = unknownKeys(region, ["code", "name", "languages", "countries"], `${at}.`);
  if (!isCode(code)) faults.push(`${at}.code: expected an ISO 3166-1 alpha-2 code, like GB`);
  if (!isName(name)) faults.push(`${at}.name: expected an English name of 1 to 100 characters`);
  if (!isListOf(languages, isLanguage) || languages.length === 0 || languages.length > mostLanguages)
    faults.push(`${at}.languages: expected 1 to ${mostLanguages} BCP 47 tags, each once, the main one first`);
  if (!isListOf(countries, isCode))
    faults.push(`${at}.countries: expected ISO 3166-1 alpha-2 codes, each once`);
  return faults;
}

function relationFaults({ default: code, regions }: RegionTable): string[] {
  const faults: string[] = [];
  const places = new Map<string, string>();
  const take = (taken: string, place: string) => {
    const first = places.get(taken);
    if (first === undefined) places.set(taken, place);
    else faults.push(`${place}: ${taken} is ${first} already`);
  };
  for (const [index, region] of regions.entries()) take(region.code, `regions[${index}].code`);
  for (const [index, { countries = [] }] of regions.entries()) {
    for (const country of countries) take(country, `regions[${index}].countries`);
  }
  if (!regions.some((region) => region.code === code)) faults.push(`default: ${code} is none of the regions`);
  return faults;
}

/** What is wrong with a site, a line each: where it is, and what was expected. */
function siteFaults(value: unknown): string[] {
  if (!isObject(value)) return ['site: expected an object with "name"'];
  const { name, colours = {}, categories = {}, public_url: publicUrl, report_url: reportUrl } = value;
  const faults = unknownKeys(value, ["name", "colours", ...urlNames, "categories"], "site.");
  if (!isName(name)) faults.push("site.name: expected a name of 1 to 100 characters");
  for (const key of urlNames.filter((key) => value[key] !== undefined && !isWebAddress(value[key])))
    faults.push(`site.${key}: expected an https URL without user, of at most 500 characters`);
  if (isWebAddress(publicUrl) && !/^https:\/\/[^/?#]+\/?$/.test(publicUrl))
    faults.push("site.public_url: expected no more than a host, like https://trending.example.com");
  if (isWebAddress(reportUrl) && !reportUrl.includes("{id}"))
    faults.push("site.report_url: expected {id} in the place of a video's id");
  return [...faults, ...coloursFaults(colours), ...categoriesFaults(categories)];
}

function categoriesFaults(categories: unknown): string[] {
  const entries = isObject(categories) ? Object.entries(categories) : [];
  if (
    !isObject(categories) ||
    entries.length > mostCategories ||
    !entries.every(([name]) => isCategory(name))
  )
    return [
      `site.categories: expected up to ${mostCategories} categories by their names of 1 to 60 characters`,
    ];
  const bad = entries.filter(([, category]) => !isCategoryEntry(category));
  if (bad.length > 0)
    return bad.map(
      ([name]) =>
        `site.categories.${name}: expected "also", a list of up to 50 names, and "names" by language`,
    );
  const also = new Map(Object.entries(categories as NonNullable<Site["categories"]>));
  const spellings = [...also].flatMap(([name, category]) => [name, ...(category.also ?? [])]);
  const twice = new Set(spellings.filter((spelling, index) => spellings.indexOf(spelling) < index));
  return [...twice].map((spelling) => `site.categories: ${spelling} is a name of more than one`);
}

function isCategoryEntry(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).some((key) => key !== "also" && key !== "names")) return false;
  const { also = [], names = {} } = value;
  if (!isListOf(also, isCategory) || also.length > mostSpellings || !isObject(names)) return false;
  return Object.entries(names).every(([tag, name]) => /^[a-z]{2,3}$/.test(tag) && isCategory(name));
}

function coloursFaults(colours: unknown): string[] {
  if (!isObject(colours)) return ['site.colours: expected an object with "light" and "dark"'];
  const shapes = schemes.flatMap((scheme) => {
    const { [scheme]: given = {} } = colours;
    const at = `site.colours.${scheme}`;
    if (!isObject(given)) return [`${at}: expected an object of colours`];
    const bad = colourNames.filter((name) => given[name] !== undefined && !isColour(given[name]));
    return [
      ...unknownKeys(given, colourNames, `${at}.`),
      ...bad.map((name) => `${at}.${name}: expected a colour like #4338ca`),
    ];
  });
  const faults = [...unknownKeys(colours, schemes, "site.colours."), ...shapes];
  return faults.length > 0 ? faults : schemes.flatMap((scheme) => contrastFaults(scheme, colours));
}

/** Texts of each colour have to be read on what is behind them; so have those colours that a site cannot set. */
function contrastFaults(scheme: (typeof schemes)[number], colours: NonNullable<Site["colours"]>): string[] {
  const { background, surface, text, muted, accent } = { ...defaults[scheme], ...colours[scheme] };
  const pairs = [
    ...[text, muted, accent, ...ofRankChanges[scheme]].map((front) => [front, background] as const),
    ...[text, muted].map((front) => [front, surface] as const),
  ];
  return pairs.flatMap(([front, back]) => {
    const ratio = contrastOf(front, back);
    if (ratio >= leastContrast) return [];
    const shown = Math.floor(ratio * 100) / 100;
    return `site.colours.${scheme}: ${front} on ${back} has a contrast of ${shown}, expected ${leastContrast} or more (WCAG AA)`;
  });
}

/** The ratio of two colours (#rrggbb), from 1 to 21. */
function contrastOf(one: string, other: string): number {
  const [dark = 0, bright = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function unknownKeys(value: object, known: readonly string[], at: string): string[] {
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  return unknown.map((key) => `${at}${key}: unknown, expected only ${known.join(", ")}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): value is string[] {
  return Array.isArray(value) && value.every(isOne) && new Set(value).size === value.length;
}

function isChannelLimit(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).length !== 2) return false;
  return isFrom(1, value.videos) && isFrom(0, value.within_ranks);
}

function isFrom(least: number, value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= mostRanks;
}

function isCode(value: unknown): value is string {
  return typeof value === "string" && codePattern.test(value);
}

function isLanguage(value: unknown): boolean {
  return typeof value === "string" && languagePattern.test(value);
}

/** Whether it is a name that people can read: it has a letter, a digit or a sign, and nothing that turns text around. */
function isName(value: unknown): value is string {
  const form = /^(?=.*[\p{L}\p{N}\p{S}])[^\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]{1,100}$/u;
  return typeof value === "string" && form.test(value);
}

/** A name that lines of the writer may have; those with this beginning are names of lists by kind. */
function isCategory(value: unknown): boolean {
  return isName(value) && [...value].length <= 60 && !value.startsWith("#language:");
}

function isColour(value: unknown): boolean {
  return typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value);
}

// In a policy, semicolons and commas would end a source, and a host of "*" would be every host. The last label of a name
// begins with a letter (RFC 3696, section 2).
function isWebAddress(value: unknown): value is string {
  const form = /^https:\/\/([\w-]+\.)*[A-Za-z][\w-]*(:[1-5]?\d{1,4})?([/?#][!-+\--:<-~]*)?$/;
  return typeof value === "string" && value.length <= 500 && form.test(value) && URL.canParse(value);
}

/** How often an edge that answers 503 is asked, and the pause in between. */
type Patience = { attempts?: number; pauseMs?: number; signal?: AbortSignal | undefined };

/**
 * The codes of the regions. A busy origin may take longer than its edge waits: 503 is asked again, for a minute.
 *
 * @throws Error when the edge was built for others than those at /api/regions, or without a language of the site's own,
 * or does not answer
 */
export async function requireSameRegions(edgeUrl = "", patience: Patience = {}): Promise<string> {
  const url = URL.parse(paths.regions, edgeUrl);
  if (url === null) throw new Error("Expected the URL of the edge, like https://trending.example.com");
  const [published, own] = await Promise.all([
    readPublished(url, patience),
    readOwn(new URL(`${paths.trending}?region=none`, url), patience),
  ]);
  const buildIt =
    "Build it with the file that REGIONS_FILE names at the writer and the origin (docs/regions.md).";
  if (published !== own)
    throw new Error(
      `The edge was built for the regions ${own}, and those at ${url} are ${published}. ${buildIt}`,
    );
  const about = (await (await fetchReady(new URL(paths.about, url), patience)).json()) as RegionTable;
  const languages = Object.keys(about.languages ?? {});
  const known = languages.length === 0 ? "" : await readOwn(new URL("/?lang=none", url), patience);
  const missing = languages.filter((tag) => !known.split(", ").includes(tag));
  if (missing.length === 0) return published;
  throw new Error(`The edge was built without the languages ${missing.join(", ")}. ${buildIt}`);
}

async function readPublished(url: URL, patience: Patience): Promise<string> {
  const response = await fetchReady(url, patience);
  if (!response.ok) throw new Error(`${url} answered with status ${response.status}`);
  const { regions } = (await response.json()) as { regions: { code: string }[] };
  return regions.map(({ code }) => code).join(", ");
}

/** The edge refuses a region or language that it does not have by itself, and says which it has. */
async function readOwn(url: URL, patience: Patience): Promise<string> {
  const response = await fetchReady(url, patience);
  const { invalid } = (await response.json()) as { invalid?: { name: string; detail: string }[] };
  const detail = invalid?.find(({ name }) => url.searchParams.has(name))?.detail;
  if (detail === undefined) throw new Error(`${url} answered with status ${response.status}, expected 400`);
  return detail.replace(/^expected one of /, "");
}

async function fetchReady(url: URL, { attempts = 60, pauseMs = 1000, signal }: Patience): Promise<Response> {
  for (let left = attempts; ; left--) {
    const response = await fetch(url, { signal: signal ?? null });
    if (response.status !== 503 || left <= 1) return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    signal?.throwIfAborted();
  }
}
