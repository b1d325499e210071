import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isAssetPath, serviceWorkerPath } from "@trendvault/contract/paths";
import { missing } from "@trendvault/contract/queries";
import { type Assets, readManifest } from "@trendvault/page/manifest";
import { textBody } from "./body.ts";
import { Refusal } from "./refusal.ts";
import { fixedContent, type Resource } from "./resource.ts";

/** The built files of the page. Nothing is read before it is asked for. */
export class PageAssets {
  readonly #folder: string;
  #assets: Assets | undefined;
  #files: ReadonlyMap<string, string> | undefined;

  /** `folder` is web/page/dist, or null to look for it from the program upwards. */
  constructor(folder: string | null) {
    this.#folder = folder ?? findFolder(dirname(Bun.main));
  }

  /** The paths that a page names. @throws Error when they were not built */
  get paths(): Assets {
    this.#assets ??= readManifest(this.#read("manifest.json"));
    return this.#assets;
  }

  /** A file by its path, or null when there is none. @throws Error when none was built */
  resourceAt(path: string): Resource | null {
    if (path !== serviceWorkerPath && !isAssetPath(path)) return null;
    const extension = path.slice(path.lastIndexOf(".") + 1);
    return {
      url: path,
      route: "asset",
      read: () => {
        const file = this.#known.get(path);
        if (file === undefined) return unknownAsset;
        return fixedContent(textBody(this.#read(file), contentTypes[extension] ?? "text/plain"));
      },
    };
  }

  get #known(): ReadonlyMap<string, string> {
    if (this.#files === undefined) {
      this.#read("manifest.json"); // says what to run when there is nothing
      const names = readdirSync(join(this.#folder, "public/assets"));
      const files = names.map((name): [string, string] => [`/assets/${name}`, `public/assets/${name}`]);
      this.#files = new Map([...files, [serviceWorkerPath, `public${serviceWorkerPath}`]]);
    }
    return this.#files;
  }

  #read(name: string): string {
    const path = join(this.#folder, name);
    try {
      return readFileSync(path, "utf8");
    } catch (cause) {
      throw new Error(`Cannot read ${path}: run bin/setup, or bun web/page/build.ts, which builds the page`, {
        cause,
      });
    }
  }
}

const contentTypes: Record<string, string> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

const unknownAsset = new Refusal("not-found", missing.asset);

/** From source and as a bundle, the program is in another depth of the project. */
function findFolder(start: string): string {
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    const found = join(folder, "web/page/dist");
    if (existsSync(join(found, "manifest.json"))) return found;
  }
  return join(start, "../../page/dist");
}
