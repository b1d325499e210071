import { choiceOf } from "@trendvault/contract/lists";

/** What there are lists of: categories in any region, and languages by region. */
export class ListedChoices {
  readonly categories = new Set<string>();
  readonly #languages = new Map<string, Set<string>>();

  /** `name` is a list's name (contract/lists.ts). */
  add(region: string, name: string): void {
    const { category, language } = choiceOf(name);
    if (category !== undefined) this.categories.add(category);
    if (language !== undefined) this.#languages.set(region, this.#ofRegion(region).add(language));
  }

  /** The languages that have a list in a region. */
  languagesIn(region: string): ReadonlySet<string> {
    return this.#ofRegion(region);
  }

  #ofRegion(region: string): Set<string> {
    return this.#languages.get(region) ?? new Set();
  }
}
