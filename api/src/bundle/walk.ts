import type { BundleDocument } from "@trendvault/contract/bundle-format";
import { explanationUrl } from "@trendvault/contract/explain-query";
import { type FeedForm, feedTypes, feedUrl } from "@trendvault/contract/feed-url";
import { mainLanguage, pageLanguages } from "@trendvault/contract/languages";
import { windows } from "@trendvault/contract/list-bounds";
import { pageUrl } from "@trendvault/contract/page-url";
import {
  aboutApiPath,
  aboutPath,
  docsPath,
  openapiPath,
  publicKeysPath,
  regionsPath,
  videoPath,
} from "@trendvault/contract/paths";
import { problemKinds, problemType } from "@trendvault/contract/problem";
import { regionCodes } from "@trendvault/contract/regions";
import {
  defaultLimit,
  fieldSets,
  largestLimit,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/trending-query";
import type { ListedVideo } from "../database/listed-videos.ts";
import { Refusal } from "../resources/refusal.ts";
import type { DocumentRenderer, Rendered } from "./document-renderer.ts";

/** The lengths of the lists in a bundle: what page, element and package ask for, and the longest. */
export const bundledLimits = [defaultLimit, largestLimit];

/** What there is in a generation. */
export type Inventory = { categories: ReadonlySet<string>; videos: readonly ListedVideo[] };

/** One of `of` shares of the work, from 0. */
export type Share = { index: number; of: number };

/** Documents that have much text in common: they come one after another, and are compressed together. */
type Related = Generator<BundleDocument>;

/**
 * Every document of a bundle once, related ones one after another; in shares, each is in one of them. What the origin
 * answers with a refusal, such as a video that was taken down, is not among them.
 */
export function* walk(renderer: DocumentRenderer, inventory: Inventory, share: Share): Related {
  const isMine = (number: number) => number % share.of === share.index;
  if (isMine(0)) yield* documents(renderer, fixedTargets);
  for (const [number, list] of [...listsOf(inventory.categories)].entries()) {
    if (isMine(number)) yield* listDocuments(renderer, list);
  }
  const videos = Map.groupBy(inventory.videos, ({ id }) => id);
  for (const [number, [id, places]] of [...videos].entries()) {
    if (isMine(number)) yield* videoDocuments(renderer, id, places);
  }
}

const fixedTargets = [
  ...[regionsPath, aboutApiPath, aboutPath, docsPath, openapiPath, publicKeysPath],
  ...problemKinds.map(problemType),
];

type List = Pick<TrendingQuery, "region" | "window" | "category">;

/** Every list that there is; where a category has no videos, it is empty. */
function* listsOf(categories: ReadonlySet<string>): Generator<List> {
  for (const region of regionCodes) {
    for (const window of windows) {
      yield { region, window };
      for (const category of categories) yield { region, window, category };
    }
  }
}

function* listDocuments(renderer: DocumentRenderer, list: List): Related {
  for (const limit of bundledLimits) yield* pageDocuments(renderer, list, limit);
  for (const form of Object.keys(feedTypes) as FeedForm[]) {
    yield renderer.render(feedUrl({ ...list, form })).document;
  }
  if (list.category === undefined) yield* documents(renderer, otherLanguages(list));
}

/** Each page of a list in every shape; those of people have the default length. */
function* pageDocuments(renderer: DocumentRenderer, list: List, limit: number): Related {
  for (let cursor: string | undefined, isLast = false; !isLast; ) {
    const query = { ...list, limit, cursor };
    const page = renderer.render(trendingUrl(query));
    yield page.document;
    for (const fields of fieldSets) yield renderer.render(trendingUrl({ ...query, fields })).document;
    if (limit === defaultLimit) yield renderer.render(pageUrl(query)).document;
    cursor = cursorOf(page);
    isLast = cursor === undefined;
  }
}

function cursorOf({ next }: Rendered): string | undefined {
  return new URLSearchParams(next?.split("?")[1]).get("cursor") ?? undefined;
}

function otherLanguages(list: List): string[] {
  const others = [...pageLanguages].filter((lang) => lang !== mainLanguage(list.region));
  return others.map((lang) => pageUrl({ ...list, lang }));
}

function* videoDocuments(renderer: DocumentRenderer, id: string, places: readonly ListedVideo[]): Related {
  const targets = [videoPath(id), ...places.map((place) => explanationUrl(id, place as ExplainedPlace))];
  for (const target of targets) {
    const rendered = renderer.tryToRender(target);
    if (!(rendered instanceof Refusal)) yield rendered.document;
  }
}

type ExplainedPlace = Pick<TrendingQuery, "region" | "window">;

function* documents(renderer: DocumentRenderer, targets: readonly string[]): Related {
  for (const target of targets) yield renderer.render(target).document;
}
