import {
  choiceOf,
  kindOf,
  type ListChoice,
  type ListKind,
  listLengths,
  listName,
  type Window,
  windows,
} from "@trendvault/contract/lists";
import type { PageStart, TrendingQuery } from "@trendvault/contract/queries";
import { DatabaseUnreadable, RankingUnreadable } from "./database-files.ts";
import type { GenerationWatcher } from "./generation-watcher.ts";
import type {
  ExplanationKey,
  ExplanationRecord,
  Generation,
  ListPage,
  ListRow,
  RankingMetadata,
  VideoRecord,
} from "./store.ts";

/**
 * Reads lists, and keeps the first page of every region and window, and what lists there are, in memory for as long as
 * their generation is served: they are requested most, and stay available when the database cannot be read.
 */
export class ListReader {
  readonly #watcher: GenerationWatcher;
  readonly #firstPages = new WeakMap<Generation, Map<string, KeptPage>>();
  readonly #metadata = new WeakMap<Generation, Map<number, RankingMetadata>>();
  readonly #choices = new WeakMap<Generation, ListedChoices>();
  readonly #titled = new WeakMap<Generation, string>();

  constructor(watcher: GenerationWatcher) {
    this.#watcher = watcher;
  }

  /** The first ranks of a list of the generation that is served, which has the region. @throws DatabaseUnreadable */
  readFirstPage(query: TrendingQuery, generation: Generation): ListPage {
    const isKept = listName(query) === "" && query.fields !== "chart" && query.titles === undefined;
    if (!isKept) return this.#readFirstRanks(query, generation);
    return this.#firstPage(query.region, query.window, generation).first(query.limit);
  }

  /** The ranks after a cursor's, or null when its generation is gone. @throws DatabaseUnreadable */
  readListPage(query: TrendingQuery, start: PageStart): ListPage | null {
    return this.#watcher.read((store) => store.readListPage(query, start));
  }

  /** A video, or null when it is unknown. @throws DatabaseUnreadable */
  readVideo(id: string, generation: Generation): VideoRecord | null {
    return this.#watcher.read((store) => store.readVideo(id, generation));
  }

  /** @throws DatabaseUnreadable */
  hasVideo(id: string): boolean {
    return this.#watcher.read((store) => store.hasVideo(id));
  }

  /** Why a video is where it is, or null when nothing is known of it in that region. @throws DatabaseUnreadable */
  readExplanation(key: ExplanationKey, generation: number): ExplanationRecord | null {
    return this.#watcher.read((store) => store.readExplanation(key, generation));
  }

  /** How one of a generation's rankings was made. @throws DatabaseUnreadable */
  readMetadata(generation: Generation, ranking: number): RankingMetadata {
    const kept = this.#metadata.get(generation) ?? new Map<number, RankingMetadata>();
    this.#metadata.set(generation, kept);
    const known = kept.get(ranking);
    if (known !== undefined) return known;
    const metadata = this.#watcher.read((store) => store.readMetadata(ranking));
    if (metadata === null) throw isDeleted(ranking);
    kept.set(ranking, metadata);
    return metadata;
  }

  /**
   * A generation with an older ranking in place of one that cannot be read; null when some of its regions have no older
   * one. @throws DatabaseUnreadable
   */
  readGenerationWithout({ regions, rankings }: Generation, ranking: number): Generation | null {
    const largestIds = new Map([...regions].map(([code, { id }]) => [code, id === ranking ? id - 1 : id]));
    const older = this.#watcher.read((store) => store.newestGeneration({ largestIds }));
    const isWhole = older?.regions.size === regions.size || rankings.length === 1;
    return isWhole ? older : null;
  }

  /** What has a list in a generation. @throws DatabaseUnreadable */
  choicesOf(generation: Generation): ListedChoices {
    const known = this.#choices.get(generation);
    if (known !== undefined) return known;
    const choices = new ListedChoices();
    for (const { id } of generation.rankings) {
      for (const { region, category } of this.#watcher.read((store) => store.readLists(id))) {
        if (generation.regions.get(region)?.id === id) choices.add(region, category);
      }
    }
    this.#choices.set(generation, choices);
    return choices;
  }

  /** Where lists have videos with titles by language: codes of regions. */
  regionsWithTitles(generation: Generation): string {
    const known = this.#titled.get(generation);
    if (known !== undefined) return known;
    const codes = [...generation.regions.keys()];
    const titled = codes.filter((code) => this.#hasTitles(code, generation)).join(" ");
    this.#titled.set(generation, titled);
    return titled;
  }

  /** False also where that cannot be read: lists are whole without these titles. */
  #hasTitles(region: string, generation: Generation): boolean {
    try {
      return this.#watcher.read((store) => store.hasTitles(regionOf(generation, region).id, region));
    } catch (error) {
      if (error instanceof DatabaseUnreadable) return false;
      throw error;
    }
  }

  /** Whether everything that is kept of a generation is in memory. */
  isLoaded(generation: Generation): boolean {
    const isWhole = this.#firstPages.get(generation)?.size === generation.regions.size * windows.length;
    return isWhole && this.#choices.has(generation);
  }

  /**
   * Reads what is kept of a generation into memory, and every rank of its lists once: what was loaded is whole. A step
   * reads one page or counts the ranks of a region and window. @throws RankingUnreadable
   */
  *load(generation: Generation): Generator<void, void> {
    const choices = new ListedChoices();
    const titled: string[] = [];
    for (const [region, { id }] of generation.regions) {
      try {
        for (const { category } of yield* this.#loadRegion(region, generation)) choices.add(region, category);
        this.readMetadata(generation, id); // pages of people depend on it
      } catch (error) {
        throw error instanceof DatabaseUnreadable ? new RankingUnreadable(id, error) : error;
      }
      if (this.#hasTitles(region, generation)) titled.push(region);
      yield;
    }
    this.#titled.set(generation, titled.join(" "));
    this.#choices.set(generation, choices);
  }

  /** Gives back what is needed only while much is read. @throws DatabaseUnreadable */
  releaseMemory(): void {
    this.#watcher.read((store) => store.releaseMemory());
  }

  *#loadRegion(region: string, generation: Generation) {
    const { id, videoCount } = regionOf(generation, region);
    const lists: { category: string }[] = [];
    for (const window of windows) {
      this.#firstPage(region, window, generation);
      yield;
      lists.push(...this.#watcher.read((store) => store.countRanks(id, region, window)));
      yield;
    }
    if (lists.length === 0 && videoCount > 0) {
      throw new DatabaseUnreadable(`Generation ${id} has no list of ${region}`);
    }
    return lists;
  }

  // In one transaction: titles change between two, and all slices of this page have to be of one moment.
  #firstPage(region: TrendingQuery["region"], window: Window, generation: Generation): KeptPage {
    const pages = this.#firstPages.get(generation) ?? new Map<string, KeptPage>();
    this.#firstPages.set(generation, pages);
    const known = pages.get(region + window);
    if (known !== undefined) return known;
    const limit = listLengths.largestPage;
    const page = new KeptPage(this.#readFirstRanks({ region, window, limit }, generation));
    pages.set(region + window, page);
    return page;
  }

  #readFirstRanks(query: TrendingQuery, generation: Generation): ListPage {
    const { id } = regionOf(generation, query.region);
    const page = this.readListPage(query, { generation: id, afterRank: 0 });
    if (page === null) throw isDeleted(id);
    return page;
  }
}

/**
 * A page packed into few objects: the engine looks at each one whenever it collects its heap, and others wait. Those of
 * 14 regions had 12,500, and took a third of that time.
 */
class KeptPage {
  readonly #page: Omit<ListPage, "rows">;
  readonly #columns: string[];
  /** JSON of the values of each row. UTF-8: a string would take twice as much with one title beyond Latin. */
  readonly #rows: Uint8Array;

  constructor({ rows, ...page }: ListPage) {
    this.#page = page;
    this.#columns = Object.keys(rows[0] ?? {});
    this.#rows = new TextEncoder().encode(JSON.stringify(rows.map((row) => Object.values(row))));
  }

  /** Its rows up to a rank. */
  first(limit: number): ListPage {
    const all: ListRow[keyof ListRow][][] = JSON.parse(new TextDecoder().decode(this.#rows));
    const rank = this.#columns.indexOf("rank");
    const rows = all
      .filter((values) => Number(values[rank]) <= limit)
      .map((values) => Object.fromEntries(this.#columns.map((name, index) => [name, values[index]])));
    return { ...this.#page, rows: rows as ListRow[] };
  }
}

function regionOf({ regions }: Generation, code: string) {
  const region = regions.get(code);
  if (region === undefined) throw new Error(`Cannot read a list of ${code}: nobody has published one`);
  return region;
}

function isDeleted(id: number): DatabaseUnreadable {
  return new DatabaseUnreadable(`Generation ${id} was deleted while it is served`);
}

/** What there are lists of: categories in any region, and kinds by region. */
export class ListedChoices {
  readonly categories = new Set<string>();
  readonly #choices = new Map<string, Map<string, ListChoice>>();
  #regionsByKind: Record<string, string> | undefined;

  /** `name` is a list's name (contract/lists.ts). */
  add(region: string, name: string): void {
    const choice = choiceOf(name);
    if (choice.category !== undefined) this.categories.add(choice.category);
    const inRegion = this.#choices.get(region) ?? new Map<string, ListChoice>();
    this.#choices.set(region, inRegion.set(name, choice));
  }

  /** The categories that have a list in a region. */
  categoriesIn(region: string): Set<string> {
    return new Set(this.#choicesIn(region).flatMap(({ category }) => category ?? []));
  }

  /** What has a list by its kind in a region. */
  kindsIn(region: string): ListChoice[] {
    return this.#choicesIn(region).filter((choice) => kindOf(choice) !== null);
  }

  /** Where a page has a list by its kind: codes of regions, by a parameter such as `live=now`. */
  get regionsByKind(): Record<string, string> {
    this.#regionsByKind ??= this.#findRegionsByKind();
    return this.#regionsByKind;
  }

  #findRegionsByKind(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const region of [...this.#choices.keys()].sort()) {
      for (const [kind, value] of this.kindsIn(region).flatMap(Object.entries)) {
        const name = `${kind}=${value}`;
        if (kind !== "language") found[name] = name in found ? `${found[name]} ${region}` : region;
      }
    }
    return found;
  }

  /** The same of one kind: languages, for example. */
  listedIn(region: string, kind: ListKind): string[] {
    return this.#choicesIn(region).flatMap((choice) => choice[kind] ?? []);
  }

  #choicesIn(region: string): ListChoice[] {
    const named = [...(this.#choices.get(region) ?? [])].sort(([left], [right]) => (left < right ? -1 : 1));
    return named.map(([, choice]) => choice);
  }
}
