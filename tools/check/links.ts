import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

type Finding = { lineNumber: number; detail: string };

/** A rule of markdownlint: a relative link leads to a file or folder, and its fragment to a heading of that. */
// biome-ignore lint/style/noDefaultExport: markdownlint takes a rule from the default export
export default {
  names: ["relative-links"],
  description: "A relative link leads somewhere",
  tags: ["links"],
  parser: "none",
  function({ name, lines }: { name: string; lines: readonly string[] }, onError: (error: Finding) => void) {
    let isCode = false;
    for (const [index, line] of lines.entries()) {
      if (/^\s*```/.test(line)) isCode = !isCode;
      const text = isCode ? "" : line.replace(/`[^`]*`/g, "");
      for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g))
        if (!leadsSomewhere(target, name)) onError({ lineNumber: index + 1, detail: target });
    }
  },
};

function leadsSomewhere(target: string, from: string): boolean {
  if (/^[a-z]+:/.test(target)) return true; // another site
  const [path = "", fragment] = target.split("#");
  const file = path === "" ? from : resolve(dirname(from), decodeURI(path));
  if (!existsSync(file)) return false;
  if (fragment === undefined || !file.endsWith(".md")) return true;
  return statSync(file).isFile() && anchorsOf(readFileSync(file, "utf8")).has(fragment);
}

/** As GitHub makes them; a heading that is there twice gets a number. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)) {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = words.replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}
