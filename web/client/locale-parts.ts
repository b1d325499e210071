import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RegionTable } from "@trendvault/contract/regions";
import type { BunPlugin } from "bun";
import { type Messages, partOf, wordsOfPage } from "./src/view/locales/locale.ts";

/**
 * Makes three scripts of a language's file: `de.json?list` has what a list needs at once, `de.json?why` why a video is
 * there, `de.json?page` the rest, without what only the origin writes; and of the regions what browsers use: they name them by Intl.
 */
export const localeParts: BunPlugin = {
  name: "locale parts",
  setup(build) {
    build.onResolve({ filter: /\.json\?(list|page|why)$/ }, ({ path, importer }) => ({
      path: join(dirname(importer), path),
      namespace: "locale",
    }));
    build.onLoad({ filter: /./, namespace: "locale" }, ({ path }) => {
      const [file = "", part] = path.split("?");
      const words = wordsOfPage(JSON.parse(readFileSync(file, "utf8")) as Messages);
      const chosen = Object.entries(words).filter(([name]) => partOf(name) === part);
      return moduleOf(Object.fromEntries(chosen));
    });
    build.onLoad({ filter: /\/db\/regions\.json$/ }, ({ path }) => {
      const { default: code, regions } = JSON.parse(readFileSync(path, "utf8")) as RegionTable;
      return moduleOf({
        default: code,
        regions: regions.map(({ code, languages }) => ({ code, languages })),
      });
    });
  },
};

// A module of JSON would export each member by its name, too.
function moduleOf(value: object) {
  return { contents: `export default ${JSON.stringify(value)}`, loader: "js" } as const;
}
