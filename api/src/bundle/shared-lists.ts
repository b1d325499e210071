import { listName } from "@trendvault/contract/lists";
import type { PageStart, TrendingQuery } from "@trendvault/contract/queries";
import type { ListPage } from "../database/list-page.ts";
import { ListReader } from "../database/list-reader.ts";

/** Reads the rows of a page once for all of its shapes, as long as these are asked for one after another. */
export class SharedLists extends ListReader {
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
