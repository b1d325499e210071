/** What a site says of itself: the member `site` of the file of REGIONS_FILE (docs/regions.schema.json). */
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
};

type ColourName = (typeof colourNames)[number];

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

/** Whether it is a name that people can read: it has a letter, a digit or a sign, and nothing that turns text around. */
export function isName(value: unknown): value is string {
  const form = /^(?=.*[\p{L}\p{N}\p{S}])[^\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]{1,100}$/u;
  return typeof value === "string" && form.test(value);
}

/** What is wrong with a site, a line each: where it is, and what was expected. */
export function siteFaults(value: unknown): string[] {
  if (!isObject(value)) return ['site: expected an object with "name"'];
  const { name, colours = {}, public_url: publicUrl, report_url: reportUrl } = value;
  const faults = unknown(value, ["name", "colours", ...urlNames], "site");
  if (!isName(name)) faults.push("site.name: expected a name of 1 to 100 characters");
  for (const key of urlNames.filter((key) => value[key] !== undefined && !isWebAddress(value[key])))
    faults.push(`site.${key}: expected an https URL without user, of at most 500 characters`);
  if (isWebAddress(publicUrl) && !/^https:\/\/[^/?#]+\/?$/.test(publicUrl))
    faults.push("site.public_url: expected no more than a host, like https://trending.example.com");
  if (isWebAddress(reportUrl) && !reportUrl.includes("{id}"))
    faults.push("site.report_url: expected {id} in the place of a video's id");
  return [...faults, ...coloursFaults(colours)];
}

function coloursFaults(colours: unknown): string[] {
  if (!isObject(colours)) return ['site.colours: expected an object with "light" and "dark"'];
  const shapes = schemes.flatMap((scheme) => {
    const { [scheme]: given = {} } = colours;
    const at = `site.colours.${scheme}`;
    if (!isObject(given)) return [`${at}: expected an object of colours`];
    const bad = colourNames.filter((name) => given[name] !== undefined && !isColour(given[name]));
    return [
      ...unknown(given, colourNames, at),
      ...bad.map((name) => `${at}.${name}: expected a colour like #4338ca`),
    ];
  });
  const faults = [...unknown(colours, schemes, "site.colours"), ...shapes];
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

/** The style sheet of a site's colours; "" for one that sets none. Page and list name their colours alike. */
export function styleOf({ colours = {} }: Site): string {
  const rules = colourNames.flatMap((name) => {
    if (schemes.every((scheme) => colours[scheme]?.[name] === undefined)) return [];
    const [light, dark] = schemes.map((scheme) => colours[scheme]?.[name] ?? defaults[scheme][name]);
    return ["", "trendvault-"].map((prefix) => `--${prefix}${name}:light-dark(${light},${dark})`);
  });
  return rules.length === 0 ? "" : `:root{${rules.join(";")}}`;
}

function unknown(value: object, known: readonly string[], at: string): string[] {
  const others = Object.keys(value).filter((key) => !known.includes(key));
  return others.map((key) => `${at}.${key}: unknown, expected only ${known.join(", ")}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
