import { pageUrl } from "./page-url.ts";

/** The forms of a feed, with their media types: JSON Feed 1.1, and Atom (RFC 4287). */
export const feedTypes = { json: "application/feed+json", atom: "application/atom+xml" } as const;
export type FeedForm = keyof typeof feedTypes;

/** A feed: of a list's first ranks, in one form. */
type Feed = { region: string; form: FeedForm; window: string; category?: string | undefined };

/** The one URL of a feed: defaults left out. It is a cache key. */
export function feedUrl({ region, form, window, category }: Feed): string {
  const [, search = ""] = /[A-Z]+&(.+)$/.exec(pageUrl({ region, window, category })) ?? [];
  return `/feeds/${region}.${form}${search === "" ? "" : `?${search}`}`;
}
