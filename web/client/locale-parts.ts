import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { listWords, type Messages } from "./src/view/locales/locale.ts";

/**
 * Makes two scripts of a language's file: `de.json?list` has what a list needs at once, `de.json?page` the rest, without
 * what only the origin writes.
 */
export const localeParts: BunPlugin = {
  name: "locale parts",
  setup(build) {
    build.onResolve({ filter: /\.json\?(list|page)$/ }, ({ path, importer }) => ({
      path: join(dirname(importer), path),
      namespace: "locale",
    }));
    build.onLoad({ filter: /./, namespace: "locale" }, ({ path }) => {
      const [file = "", part] = path.split("?");
      const words = JSON.parse(readFileSync(file, "utf8")) as Messages;
      const isOfList = new Set<string>(listWords);
      const chosen = Object.entries(words).filter(([name]) =>
        part === "list" ? isOfList.has(name) : !isOfList.has(name) && !/^(about|source)[A-Z]/.test(name),
      );
      // A module of JSON would export each word by its name, too.
      return { contents: `export default ${JSON.stringify(Object.fromEntries(chosen))}`, loader: "js" };
    });
  },
};
