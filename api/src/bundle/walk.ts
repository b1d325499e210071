import type { BundleDocument } from "@trendvault/contract/bundle-file";
import { defaultLimit, largestLimit, listName, windows } from "@trendvault/contract/lists";
import {
  type FeedForm,
  feedTypes,
  feedUrl,
  mainLanguage,
  pageLanguages,
  pageUrl,
} from "@trendvault/contract/page";
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
import {
  type ExplainQuery,
  explanationUrl,
  exportUrl,
  fieldSets,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/queries";
import { regionCodes } from "@trendvault/contract/regions";
import type { ListedChoices } from "../database/listed-choices.ts";
import type { ListedVideo } from "../database/listed-videos.ts";
import { Refusal } from "../resources/refusal.ts";
import type { DocumentRenderer, Rendered } from "./document-renderer.ts";

/** The lengths of the lists in a bundle: what page, element and package ask for, and the longest. */
export const bundledLimits = [defaultLimit, largestLimit];

/** What there is in a generation. */
export type Inventory = {
  /** Those that lists were made of. */
  regions: ReadonlyMap<string, unknown>;
  choices: ListedChoices;
  videos: readonly ListedVideo[];
};

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
  for (const [number, list] of [...listsOf(inventory)].entries()) {
    if (isMine(number)) yield* listDocuments(renderer, list);
  }
  const ids = new Set(inventory.videos.map(({ id }) => id));
  for (const [number, id] of [...ids].entries()) {
    if (isMine(number)) yield* existing(renderer, [videoPath(id)]);
  }
  const byRegion = Map.groupBy(inventory.videos, ({ region }) => region);
  for (const [number, listed] of [...byRegion.values()].entries()) {
    const targets = listed.map(({ id, ...place }) => explanationUrl(id, place as ExplainQuery));
    if (isMine(number)) yield* existing(renderer, targets);
  }
}

const fixedTargets = [
  ...[regionsPath, aboutApiPath, aboutPath, docsPath, openapiPath, publicKeysPath],
  ...problemKinds.map(problemType),
];

type List = Pick<TrendingQuery, "region" | "window" | "category" | "language">;

/** Every list that there is; where a category has no videos, it is empty. */
function* listsOf({ regions, choices }: Inventory): Generator<List> {
  for (const region of regionCodes.filter((code) => regions.has(code))) {
    for (const window of windows) {
      yield { region, window };
      for (const category of choices.categories) yield { region, window, category };
      for (const language of choices.languagesIn(region)) yield { region, window, language };
    }
  }
}

/** Each page of a list in every shape; those of people have the default length, and are not of a language. */
function* listDocuments(renderer: DocumentRenderer, list: List): Related {
  yield* documents(renderer, exportsOf(list));
  for (const limit of bundledLimits) {
    for (let cursor: string | undefined, isLast = false; !isLast; ) {
      const query = { ...list, limit, cursor };
      const page = renderer.render(trendingUrl(query));
      yield page.document;
      yield* documents(
        renderer,
        fieldSets.map((fields) => trendingUrl({ ...query, fields })),
      );
      if (list.language === undefined)
        yield* documents(renderer, limit === defaultLimit ? pagesOf(query) : feedsOf(query));
      cursor = cursorOf(page);
      isLast = cursor === undefined;
    }
  }
}

function cursorOf({ next }: Rendered): string | undefined {
  return new URLSearchParams(next?.split("?")[1]).get("cursor") ?? undefined;
}

/** In the main language of the region; a list's first page over all categories in the others, too. */
function pagesOf(query: TrendingQuery): string[] {
  const isFirst = query.category === undefined && query.cursor === undefined;
  const others = [...pageLanguages].filter((lang) => isFirst && lang !== mainLanguage(query.region));
  return [pageUrl(query), ...others.map((lang) => pageUrl({ ...query, lang }))];
}

/** A feed is of a first page. */
function feedsOf({ cursor, ...list }: TrendingQuery): string[] {
  return cursor === undefined ? feedForms.map((form) => feedUrl({ ...list, form })) : [];
}

const feedForms = Object.keys(feedTypes) as FeedForm[];

/** The export of a list over all categories; that of all windows comes with the first. */
function exportsOf({ region, window, ...choice }: List): string[] {
  if (listName(choice) !== "") return [];
  const whole = window === windows[0] ? [exportUrl({ region, window: undefined })] : [];
  return [...whole, exportUrl({ region, window })];
}

function* existing(renderer: DocumentRenderer, targets: readonly string[]): Related {
  for (const target of targets) {
    const rendered = renderer.tryToRender(target);
    if (!(rendered instanceof Refusal)) yield rendered.document;
  }
}

function* documents(renderer: DocumentRenderer, targets: readonly string[]): Related {
  for (const target of targets) yield renderer.render(target).document;
}
