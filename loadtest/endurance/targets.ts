import { windows } from "@trendvault/contract/lists";
import { observedRegions } from "./moving-data.ts";

const lists = observedRegions.flatMap((region) =>
  windows.flatMap((window) =>
    ["", "&limit=7", "&limit=50", "&category=Music"].map(
      (rest) => `/api/trending?region=${region}&window=${window}${rest}`,
    ),
  ),
);

/** What visitors ask for: lists, pages for people, feeds, and what other programs read. */
export const edgeTargets: readonly string[] = [
  ...lists,
  ...lists, // most requests are for lists
  ...observedRegions.flatMap((region) => [
    `/?region=${region}`,
    `/feeds/${region}.atom`,
    `/feeds/${region}.json`,
  ]),
  "/api/regions",
  "/openapi.json",
];

/** And what no edge has stored: every length of list, videos, and why they are where they are. */
export const originTargets: readonly string[] = [
  ...edgeTargets,
  ...Array.from({ length: 50 }, (_, index) => `/api/trending?region=DE&limit=${index + 1}`),
  ...Array.from({ length: 30 }, (_, index) => `/api/videos/gb-${index}`),
  ...Array.from({ length: 30 }, (_, index) => `/api/videos/fr-${index}/explain?region=FR`),
];
