import { type BundleDocument, type BundleFacts, encodeDocuments } from "@trendvault/contract/bundle-file";
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
  type PageStart,
  type TrendingQuery,
  trendingUrl,
} from "@trendvault/contract/queries";
import { regionCodes, useRegions } from "@trendvault/contract/regions";
import { tokenMinute } from "@trendvault/contract/token";
import { DatabaseUnusable } from "../database/database-files.ts";
import { GenerationWatcher } from "../database/generation-watcher.ts";
import { type ListedChoices, ListReader } from "../database/list-reader.ts";
import type { ListedVideo, ListPage } from "../database/store.ts";
import { splitTarget } from "../http/request-target.ts";
import type { FindRoute } from "../http/routes.ts";
import { assembleAnswers } from "../origin.ts";
import { formatTime, Refusal } from "../resources/resource.ts";
import type { Builder, Snapshot } from "../serving/builder.ts";
import type { Settings } from "../settings.ts";

/** What is rendered: the newest generation of a database, as it is answered at `now` (Unix time in milliseconds). */
export type RenderInput = { settings: Settings; now: number };

/** A generation that is being rendered, whole or a share of it. */
type Rendering = {
  facts: BundleFacts;
  blocks(share: Share): Generator<Block>;
  close(): void;
};

/** Reads a generation as an origin does before it serves it. @throws Error that says what to do */
export async function openRendering({ settings, now }: RenderInput): Promise<Rendering> {
  useRegions(settings.regions);
  const watcher = new GenerationWatcher(settings.databasePath);
  const generation = watcher.poll(now);
  if (generation === null)
    throw new DatabaseUnusable(`Cannot render ${settings.databasePath}: nothing was published yet`);
  const lists = new SharedLists(watcher);
  const { findRoute, builder } = await assembleAnswers(settings, {
    lists,
    clock: () => now,
    onBuilt: () => {},
  });
  for (const _ of lists.load(generation));
  watcher.read((store) => store.expectManyExplanations());
  const inventory = {
    regions: generation.regions,
    choices: lists.choicesOf(generation),
    videos: watcher.read((store) => generation.rankings.flatMap(({ id }) => store.readListedVideos(id))),
  };
  const snapshot = { generation, minute: tokenMinute(now) };
  const renderer = new DocumentRenderer({ findRoute, builder, snapshot });
  return {
    facts: {
      generation: generation.id,
      generated_at: formatTime(generation.publishedAt),
      signed_at: Math.floor(now / 1000),
      limits: bundledLimits,
      regions: [...generation.regions.keys()],
    },
    blocks: (share) => packBlocks(documentsOf(renderer, inventory, share)),
    close: () => watcher.close(),
  };
}

/** The lengths of the lists in a bundle: what page, element and package ask for, and the longest. */
const bundledLimits = [defaultLimit, largestLimit];

/** What there is in a generation. */
type Inventory = {
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
function* documentsOf(renderer: DocumentRenderer, inventory: Inventory, share: Share): Related {
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
  const others = pageLanguages.filter((lang) => isFirst && lang !== mainLanguage(query.region));
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

/** `next` is the URL of the list's next page, null on the last and for what is no list. */
type Rendered = { document: BundleDocument; next: string | null };

type Parts = { findRoute: FindRoute; builder: Builder; snapshot: Snapshot };

/** Answers targets as the origin does in one snapshot: by its routes, its resources and its signatures. */
class DocumentRenderer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    parts.builder.prepare();
    this.#parts = parts;
  }

  /** The 200 to a canonical target. @throws Error when the origin would answer something else, or at another target */
  render(target: string): Rendered {
    const rendered = this.tryToRender(target);
    if (rendered instanceof Refusal) throw new Error(`Cannot render ${target}: ${rendered.detail}`);
    return rendered;
  }

  /** The same for what may not exist. @throws DatabaseUnreadable */
  tryToRender(target: string): Rendered | Refusal {
    const { findRoute, builder, snapshot } = this.#parts;
    const resource = findRoute(splitTarget(target).path)?.resolve(splitTarget(target)) ?? unknownPath;
    if (resource instanceof Refusal) return resource;
    if (resource.url !== target) throw new Error(`Cannot render ${target}: it is ${resource.url}`);
    const signed = builder.finishNow(builder.sign(resource, snapshot));
    if (signed instanceof Refusal) return signed;
    const { body, fields } = signed;
    return { document: { target, status: 200, fields, body: body.bytes }, next: body.next };
  }
}

const unknownPath = new Refusal("not-found", "there is no such path");

/** Reads the rows of a page once for all of its shapes, as long as these are asked for one after another. */
class SharedLists extends ListReader {
  #last: { key: string; page: ListPage | null } = { key: "", page: null };

  /** With what `fields=chart` needs, which the other shapes leave out. @throws DatabaseUnreadable */
  override readListPage(query: TrendingQuery, start: PageStart): ListPage | null {
    const { region, window, limit } = query;
    const key = JSON.stringify([region, window, listName(query), limit, start]);
    if (this.#last.key !== key) {
      this.#last = { key, page: super.readListPage({ ...query, fields: "chart" }, start) };
    }
    return this.#last.page;
  }
}

/** A compressed block, and the targets of its documents in their order. */
export type Block = { targets: string[]; bytes: Uint8Array<ArrayBuffer> };

const blockBytes = 65_536; // inflated: a reader of one document inflates and keeps the others, too
const compressionLevel = 6;

/** Packs documents into blocks in their order; one that is larger than a block has its own. */
function* packBlocks(documents: Iterable<BundleDocument>): Generator<Block> {
  let waiting: BundleDocument[] = [];
  let bytes = 0;
  for (const document of documents) {
    if (waiting.length > 0 && bytes + document.body.length > blockBytes) {
      yield pack(waiting);
      [waiting, bytes] = [[], 0];
    }
    waiting.push(document);
    bytes += document.body.length;
  }
  if (waiting.length > 0) yield pack(waiting);
}

function pack(documents: BundleDocument[]): Block {
  const bytes = Bun.deflateSync(encodeDocuments(documents), {
    level: compressionLevel,
    library: "libdeflate",
  });
  return { targets: documents.map(({ target }) => target), bytes: new Uint8Array(bytes) };
}
