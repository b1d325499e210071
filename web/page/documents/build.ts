import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { parseArgs } from "node:util";
import { writeNotices } from "../../../tools/release/notices.ts";
import type { Section } from "./search.ts";

/**
 * `bun build.ts [FOLDER] [--of CHECKOUT] [--archive FILE.tar.gz]` builds the site of documents: a page for each Markdown
 * file that Git knows, the start page and the search. It can be opened from a disk and from any path of a server. Where a
 * link leads nowhere, or a document answers no question of anybody, it builds nothing and says so.
 */

/** Who asks what, in the order in which people need it. Folders and decisions say in their titles what they answer. */
const shelves: Record<string, Record<string, string>> = {
  "Sites with videos": {
    "README.md": "What is it, and how do I try it?",
    "docs/observations.md": "How do my own videos get in?",
    "docs/sources.md": "How do the views that platforms count get in?",
    "web/client/README.md": "How do I show the list on my page?",
    "docs/regions.md": "How do I choose countries, name and colours?",
    "docs/http-api.md": "What does the API answer, and what can I rely on?",
  },
  Editors: {
    "docs/ranking.md": "How does it rank?",
    "docs/editorial.md": "How do I steer the lists?",
    "docs/loop.md": "How does a list learn from its visitors?",
  },
  Operators: {
    "docs/operations.md": "Where do I find what, and how do I leave?",
    "docs/operations/install.md": "How do I put it on a server?",
    "docs/operations/edge.md": "How do I deploy the edge?",
    "docs/operations/run.md": "What does this exit code, metric or log event mean?",
    "docs/runbook.md": "What do I do when it breaks?",
    "docs/operations/upgrade.md": "How do I upgrade, or go back?",
    "docs/operations/back-up.md": "How do I back up and restore?",
    "docs/operations/scale.md": "How does it grow, and what does it cost?",
    "ops/README.md": "How do I watch it with tools that I have?",
    "docs/benchmarks.md": "How fast is it?",
    "loadtest/README.md": "Does my own server meet its goals?",
    "CHANGELOG.md": "What has changed?",
  },
  "Lawyers and auditors": {
    "docs/privacy.md": "Is it lawful, and what is kept for how long?",
    "docs/audit.md": "What can be proven?",
    "SECURITY.md": "How do I report a weakness?",
  },
  Developers: {
    "CONTRIBUTING.md": "How do I make a first change?",
    "docs/changing.md": "Which files does a change touch?",
    "CODE_OF_CONDUCT.md": "How do we treat each other?",
  },
  Decisions: {},
};

type Document = {
  path: string;
  reader: string;
  question: string | undefined;
  title: string;
  html: string;
  anchors: Set<string>;
  sections: Section[];
};
type Page = { path: string; title: string; main: string; nav?: string; scripts?: readonly string[] };

const { positionals, values } = parseArgs({
  args: Bun.argv.slice(2),
  allowPositionals: true,
  options: {
    of: { type: "string", default: join(import.meta.dir, "../../..") },
    archive: { type: "string" },
  },
});
const dist = join(import.meta.dir, "dist");
const [folder = dist] = positionals;
const root = values.of;
const repository = "https://github.com/trendvault/trendvault";
const { version } = await Bun.file(join(root, "package.json")).json();
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

const problems = new Set<string>();
const pictures = new Set<string>();
const listed = await Bun.$`git -C ${root} ls-files -z --cached --others --exclude-standard`.quiet().text();
const files = new Set(listed.split("\0").filter((path) => path !== "" && existsSync(join(root, path))));
const markdown = [...files].filter((path) => path.endsWith(".md"));
const documents = new Map(markdown.map((path) => [path, readDocument(path)]));
const pages = [startPage(), searchPage(), ...[...documents.values()].map(pageOfDocument)].map(
  (page) => [page.path, frame(page)] as const,
);
if (problems.size > 0) {
  console.error([...problems].join("\n"));
  process.exit(1);
}

const script = await Bun.build({
  entrypoints: [join(import.meta.dir, "search.ts")],
  format: "iife", // no module: a page that is opened from a disk may not load one
  minify: true,
  metafile: true,
});
const styles = [join(import.meta.dir, "../page.css"), join(import.meta.dir, "documents.css")];
const sections = [...documents.values()].flatMap((each) => each.sections);
if (folder === dist) rmSync(dist, { recursive: true, force: true }); // with the pages of documents that are gone
for (const [path, html] of pages) write(path, html);
for (const path of pictures) write(path, readFileSync(join(root, path)));
write("style.css", styles.map((path) => readFileSync(path, "utf8")).join(""));
write("search.js", (await script.outputs[0]?.text()) ?? "");
write("sections.js", `const sections=${JSON.stringify(sections)}`);
write("icon.svg", readFileSync(join(import.meta.dir, "../icon.svg")));
writeNotices(folder, [script.metafile]);
if (values.archive !== undefined) await pack(values.archive);

function readDocument(path: string): Document {
  const anchors = new Set<string>();
  const html = Bun.markdown
    .html(readFileSync(join(root, path), "utf8"), { autolinks: { url: true } })
    .replace(/<h([1-6])>(.*?)<\/h\1>/gs, (_, level: string, heading: string) => {
      const anchor = anchorOf(textOf(heading), anchors);
      anchors.add(anchor);
      return `<h${level} id="${anchor}">${heading}</h${level}>`;
    });
  const parts = html.split(/(?=<h[1-3] id=)/).map((part) => {
    const [whole, anchor, heading = ""] = /^<h\d id="(.*?)">(.*?)<\/h\d>/s.exec(part) ?? [""];
    const address = pageOf(path) + (anchor === undefined ? "" : `#${anchor}`);
    return { address, heading: textOf(heading), text: textOf(part.slice(whole.length)) };
  });
  const title = parts[0]?.heading || path;
  const [reader, question] = readerOf(path);
  const weight = reader === "Decisions" ? 0.25 : 1; // they speak of all that others ask about
  const sections = parts.map((part, at) => ({
    ...{ title, question: at === 0 ? (question ?? "") : "", ...part, weight },
  }));
  return { path, reader, question, title, html, anchors, sections };
}

/** Who asks what a document answers, and the question, where its title does not say it. */
function readerOf(path: string): [reader: string, question?: string | undefined] {
  const asking = Object.keys(shelves).find((reader) => shelves[reader]?.[path] !== undefined);
  if (asking !== undefined) return [asking, shelves[asking]?.[path]];
  if (path.startsWith("docs/decisions/")) return ["Decisions"];
  if (!path.endsWith("/README.md"))
    problems.add(`${path}: web/page/documents/build.ts has no question for it`);
  return ["Developers"];
}

/** As GitHub makes them; a heading that is there twice gets a number. */
function anchorOf(heading: string, taken: ReadonlySet<string>): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{M}\p{N} _-]/gu, "");
  const anchor = words.replaceAll(" ", "-");
  let unique = anchor;
  for (let count = 1; taken.has(unique); count++) unique = `${anchor}-${count}`;
  return unique;
}

function textOf(html: string): string {
  const text = html.replace(/<\/?(a|code|em|strong)\b[^>]*>/g, "").replace(/<[^>]*>/g, " ");
  const plain = text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"');
  return plain.replaceAll("&amp;", "&").replace(/\s+/g, " ").trim();
}

/** How README begins, its first questions, and all documents by who asks what they answer. */
function startPage(): Page {
  const path = "index.html";
  const html = documents.get("README.md")?.html ?? "";
  const [beginning] = /^.*?<img [^>]*><\/p>/s.exec(html) ?? [];
  const [questions] = /<h2 id="first-questions">.*?(?=<h2 |$)/s.exec(html) ?? [];
  if (beginning === undefined || questions === undefined)
    problems.add("README.md: the start page needs its picture and its part “First questions”");
  const lists = Object.keys(shelves).map((reader) => {
    const items = documentsOf(reader).map(({ path, title, question }) =>
      question === undefined
        ? `<li><a href="${pageOf(path)}">${Bun.escapeHTML(title)}</a></li>`
        : `<li><a href="${pageOf(path)}">${Bun.escapeHTML(question)}</a> <small>${Bun.escapeHTML(title)}</small></li>`,
    );
    return `<h3>${reader}</h3><ul>${items.join("")}</ul>`;
  });
  const first = finish(`<div>${beginning}</div><div>${questions}</div>`, { from: "README.md", page: path });
  const main = `<div class="start">${first}</div><h2 id="documents">All documents</h2>${lists.join("")}`;
  return { path, title: "TrendVault: the documents", main };
}

function searchPage(): Page {
  const main = `<h1>Search</h1><p role="status">The search needs scripts. Without them: <a href="index.html#documents">all documents</a>.</p><ol class="results"></ol>`;
  return { path: "search.html", title: "Search – TrendVault", main, scripts: ["sections.js", "search.js"] };
}

function pageOfDocument({ path: from, title, html, reader, question }: Document): Page {
  const path = pageOf(from);
  const asked = `<p class="asked">${reader}${question === undefined ? "" : `: ${Bun.escapeHTML(question)}`}</p>`;
  const [heading = "", ...rest] = finish(html, { from, page: path }).split(/(?<=<\/h1>)/);
  const shelved = Object.keys(shelves).map((each) => {
    const links = documentsOf(each).map((other) => {
      const current = other.path === from ? ' aria-current="page"' : "";
      return `<li><a href="${linkTo(pageOf(other.path), path)}"${current}>${Bun.escapeHTML(other.title)}</a></li>`;
    });
    return foldable(each, links.join(""), each === reader);
  });
  return {
    ...{ path, title: `${title} – TrendVault`, main: [asked, heading, contentsOf(html), ...rest].join("") },
    nav: `<nav id="documents" aria-label="Documents">${shelved.join("")}</nav>`,
  };
}

function contentsOf(html: string): string {
  const headings = [...html.matchAll(/<h2 id="(.*?)">(.*?)<\/h2>/gs)];
  if (headings.length < 3) return "";
  const links = headings.map(
    ([, anchor, words = ""]) => `<li><a href="#${anchor}">${Bun.escapeHTML(textOf(words))}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page">${foldable("On this page", links.join(""))}</nav>`;
}

function foldable(summary: string, items: string, isOpen = false): string {
  return `<details${isOpen ? " open" : ""}><summary>${summary}</summary><ul>${items}</ul></details>`;
}

function documentsOf(reader: string): Document[] {
  const order = Object.keys(shelves[reader] ?? {});
  const placeOf = ({ path }: Document) => (order.includes(path) ? order.indexOf(path) : order.length);
  const all = [...documents.values()].filter((each) => each.reader === reader);
  return all.sort((left, right) => placeOf(left) - placeOf(right));
}

/** What a document's HTML is on a page: links lead to pages, pictures come with it, what is wide scrolls by itself. */
function finish(html: string, place: { from: string; page: string }): string {
  return html
    .replace(/ href="(.*?)"/g, (_, target: string) => ` href="${follow(target, place)}"`)
    .replace(/<img src="(.*?)"/g, (_, target: string) => `<img src="${bring(target, place)}"`)
    .replaceAll("<pre>", '<pre tabindex="0">')
    .replaceAll("<th></th>", "<td></td>")
    .replace(/<thead>\s*<tr>(<td><\/td>)+<\/tr>\s*<\/thead>/g, "")
    .replaceAll("<table>", '<div class="wide" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>");
}

/** Where a link leads from a page: to another page, to a file of the repository, or to another site. */
function follow(target: string, { from, page }: { from: string; page: string }): string {
  if (/^[a-z]+:/.test(target)) return target;
  const [path = "", anchor] = decodeURI(target).split("#");
  const found = path === "" ? from : posix.join(posix.dirname(from), path).replace(/\/$/, "");
  const document = documents.get(found) ?? documents.get(posix.join(found, "README.md"));
  const address = document === undefined ? addressOf(found) : pageOf(document.path);
  if (address === null || (anchor !== undefined && !document?.anchors.has(anchor)))
    problems.add(`${from}: ${target} leads nowhere`);
  const link = address?.startsWith(repository) ? address : linkTo(address ?? "", page);
  return anchor === undefined ? link : `${link}#${anchor}`;
}

/** Of a file or folder without a page: in the repository, or all documents. */
function addressOf(path: string): string | null {
  if (files.has(path)) return `${repository}/blob/v${version}/${path}`;
  const inside = [...files].filter((file) => file.startsWith(`${path}/`));
  if (inside.some((file) => documents.has(file))) return "index.html#documents";
  return inside.length > 0 ? `${repository}/tree/v${version}/${path}` : null;
}

/** The address of a picture, of which the site gets a copy. */
function bring(target: string, { from, page }: { from: string; page: string }): string {
  const path = posix.join(posix.dirname(from), target);
  if (files.has(path)) pictures.add(path);
  else problems.add(`${from}: the picture ${target} is not in the repository`);
  return linkTo(path, page);
}

function frame({ path: page, title, main, nav = "", scripts = [] }: Page): string {
  const to = (path: string) => linkTo(path, page);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${Bun.escapeHTML(title)}</title>
<link rel="stylesheet" href="${to("style.css")}">
<link rel="icon" href="${to("icon.svg")}" type="image/svg+xml">
${scripts.map((path) => `<script defer src="${to(path)}"></script>`).join("\n")}
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header class="header top">
<p class="brand"><a href="${to("index.html")}">TrendVault</a></p>
<form role="search" action="${to("search.html")}"><label for="q">Search</label><input id="q" name="q" type="search" autocomplete="off"><button>Find</button></form>
<a class="all" href="${nav === "" ? to("index.html#documents") : "#documents"}">All documents</a>
</header>
<div class="columns">
<main id="main">${main}</main>
${nav}
</div>
<footer class="foot"><p>Version ${version} · <a href="${repository}">Source</a> · <a href="${to("README.html#licence")}">Licence</a></p></footer>
</body>
</html>
`;
}

function pageOf(path: string): string {
  return path.replace(/\.md$/, ".html");
}

function linkTo(path: string, page: string): string {
  return posix.relative(posix.dirname(page), path);
}

function write(path: string, content: string | Buffer): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), content);
}

/** The same commit makes the same bytes. */
async function pack(archive: string): Promise<void> {
  const time = (await Bun.$`git -C ${root} log -1 --format=%ct`.text()).trim();
  const form = [
    "--sort=name",
    `--mtime=@${time}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u=rwX,go=rX",
  ];
  const prefix = `--transform=s,^[.],${basename(archive, ".tar.gz")},`;
  await Bun.$`tar --create --file=${archive} --use-compress-program=${"gzip -n9"} ${form} ${prefix} --directory=${folder} .`;
}
