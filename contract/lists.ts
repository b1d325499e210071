/** A video that no source has counted for so long leaves the lists of a region that is still counted. */
export const uncountedHours = 48;

/**
 * How far ahead each list looks, in hours. This is the one list of windows; pickers and exports have its order.
 * lists.test.ts compares with it what is written in PHP, SQL and Python.
 */
export const windowHours = { now: 6, day: 24, week: 168 } as const;
export type Window = keyof typeof windowHours;
export const windows = Object.keys(windowHours) as Window[];

/** The window of a request that names none. */
export const defaultWindow: Window = "day";

/** Hours in English, as of a window: "24 hours", "7 days". */
export function describeHours(hours: number): string {
  return hours > 48 ? `${hours / 24} days` : `${hours} hours`;
}

/** What the windows mean, for the description of the API. */
export function describeWindows(): string {
  const meanings = windows.map((window) => `${window} = ${describeHours(windowHours[window])}`);
  return `The time ahead that a score covers: ${meanings.join(", ")}`;
}

/** In ranks. */
export const listLengths = {
  /** A page of a request that names no limit. */
  defaultPage: 24,
  largestPage: 50,
  /** The longest list, and the longest one of a category or by kind. A test compares them with the writer's. */
  longest: { all: 500, category: 100 },
} as const;

/** What videos may have a list by, besides their category: parameters of a list, with what they may be; null: a language. */
export const listKinds = {
  language: null,
  audience: ["kids"],
  live: ["now"],
  duration: ["short", "long"],
} as const;
export type ListKind = keyof typeof listKinds;

/** What selects a list in its region and window: a category or one kind, or nothing for all videos. */
export type ListChoice = { [Name in "category" | ListKind]?: string | undefined };

/** No category begins like this: writer/src/Observations/ObservationParser.php, with which a test compares it. */
const mark = "#language:";

/** The kind that a list is by, and which one of it; null for one over all videos or of a category. */
export function kindOf(choice: ListChoice): { kind: ListKind; value: string } | null {
  for (const kind in listKinds) {
    const value = choice[kind as ListKind];
    if (value !== undefined) return { kind: kind as ListKind, value };
  }
  return null;
}

/**
 * A list's name as the database has it: "" for all videos, a category, `#language:de`, or such as `#language:audience=kids`.
 * An origin that does not know that kind takes it for a language that nobody can ask for.
 */
export function listName(choice: ListChoice): string {
  const by = kindOf(choice);
  if (by === null) return choice.category ?? "";
  return mark + (by.kind === "language" ? "" : `${by.kind}=`) + by.value;
}

/** What the name of a list selects. */
export function choiceOf(name: string): ListChoice {
  if (!name.startsWith(mark)) return name === "" ? {} : { category: name };
  const text = name.slice(mark.length);
  const [kind = "", value] = text.split("=");
  return value !== undefined && Object.hasOwn(listKinds, kind) ? { [kind]: value } : { language: text };
}

/** How long an answer may be used, in seconds. What the origin sends is written from these; tests hold the rest to them. */
export const answerSeconds = {
  /** A browser uses an answer for so long after it was fetched. */
  browserFresh: 30,
  /** After that, while the browser revalidates it (RFC 5861, section 3). */
  browserStale: 60,
  /** A shared cache uses an answer for so long. */
  fresh: 120,
  /** After that, while it revalidates (RFC 5861, section 3). */
  stale: 600,
} as const;
/** After freshness, while the origin fails (RFC 5861, section 4). */
const staleIfErrorSeconds = 86_400;
/** A shared cache uses the answer that something does not exist for so long: the next generation may have it. */
const missingFreshSeconds = 60;

/** What a browser tells of a list is taken for so long after the last moment at which the edge may have served it. */
const lookingSeconds = 1800;

/**
 * The same, counted from when the list's token was issued: in the minute in which the origin served the list, which the
 * edge then serves as fresh and as stale. Copies that are served because the origin fails are older, and count nothing.
 * A generation has to be kept for at least so long, or nothing would say which video had a rank.
 */
export const viewsAcceptedSeconds = 60 + answerSeconds.fresh + answerSeconds.stale + lookingSeconds;

/**
 * The targeted field (RFC 9213) with the lifetimes for our own edge, and its values for an answer and for what does not
 * exist. It is signed, and the edge reads no other; CDN-Cache-Control says the same to other shared caches.
 */
export const edgeLifetimes = {
  field: "trendvault-cache-control",
  answer: `max-age=${answerSeconds.fresh}, stale-while-revalidate=${answerSeconds.stale}, stale-if-error=${staleIfErrorSeconds}`,
  missing: `max-age=${missingFreshSeconds}`,
} as const;

/** How far the clock of whoever signed something may be ahead of ours, in seconds. */
export const clockSkewSeconds = 60;

/** Whether a time lies further ahead than clocks differ: it says nothing about age then. Both are Unix seconds. */
export function isFromFuture(time: number, now: number): boolean {
  return time > now + clockSkewSeconds;
}

/** What counts of views may come from, as /api/about names it, and in words. lists.test.ts compares it with the writer's registry. */
export const sourceKinds = {
  ndjson: "the operator's own counts",
  http: "the operator's own counts, from another server",
  youtube: "YouTube's charts",
  peertube: "PeerTube",
  edge: "impressions and clicks in these lists",
  demo: "made-up videos of a demonstration",
} as const;
export type SourceKind = keyof typeof sourceKinds;
