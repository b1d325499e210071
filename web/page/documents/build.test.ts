import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, posix } from "node:path";
import { newFolder } from "@trendvault/kit/machine";

const folder = newFolder("documents");
let own: Awaited<ReturnType<typeof build>>;
let pages: Map<string, string>; // of this checkout, their HTML by their path
beforeAll(async () => {
  own = await build("own");
  const names = readdirSync(own.site, { recursive: true, encoding: "utf8" });
  const ofPages = names.filter((name) => name.endsWith(".html"));
  pages = new Map(ofPages.map((name) => [name, readFileSync(join(own.site, name), "utf8")]));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Builds the site of this checkout or of another into a folder of this name. */
async function build(name: string, ...options: string[]) {
  const site = join(folder, name);
  const run = await Bun.$`bun ${join(import.meta.dir, "build.ts")} ${site} ${options}`.nothrow().quiet();
  return { site, exitCode: run.exitCode, said: run.stderr.toString() };
}

/** A checkout with these files, and a README from which a start page can be made. */
async function checkout(name: string, files: Record<string, string>): Promise<string> {
  const root = join(folder, name);
  const readme =
    "# It\n\nA sentence.\n\n![The page](page.png)\n\n## First questions\n\n| | |\n|---|---|\n| How? | so |\n";
  const all = { "package.json": '{"version":"1.2.3"}', "page.png": "", "README.md": readme, ...files };
  for (const [path, text] of Object.entries(all)) await Bun.write(join(root, path), text);
  await Bun.$`git init --quiet ${root}`;
  return root;
}

const linksOf = (html: string) =>
  [...html.matchAll(/ (?:href|src|action)="(.*?)"/g)].map(([, link = ""]) => link);

test("every document of this checkout has a page, whose links lead to a page, a part of one, or another site", async () => {
  expect([own.said, own.exitCode]).toEqual(["", 0]);
  const listed = await Bun.$`git -C ${import.meta.dir} ls-files --full-name -- ${":/*.md"}`.text();
  const expected = listed
    .trim()
    .split("\n")
    .map((path) => path.replace(/\.md$/, ".html"));
  expect([...pages.keys()]).toEqual(expect.arrayContaining(expected));
  for (const [name, html] of pages) {
    const lost = linksOf(html).filter((link) => {
      if (/^(https?|mailto):/.test(link)) return false;
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? name : posix.join(posix.dirname(name), path);
      const there = existsSync(join(own.site, target));
      return !there || (anchor !== undefined && !pages.get(target)?.includes(` id="${anchor}"`));
    });
    expect([name, lost]).toEqual([name, []]);
  }
});

test("a page loads nothing from others, runs nothing inline, and asks for a policy that allows no more", () => {
  for (const html of pages.values()) {
    expect(html).toContain(
      `http-equiv="content-security-policy" content="default-src 'none'; style-src 'self';`,
    );
    expect(
      html.match(
        /<(script|link|img)[^>]* (src|href)="(\w+:|\/)[^>]*>|<style|<script>|<[^>]* (style|on\w+)=/g,
      ),
    ).toBeNull();
  }
});

test("the start page has the picture of the page, the first questions, and links all documents", () => {
  const html = pages.get("index.html") ?? "";
  expect(html).toContain('<img src="docs/page.png"');
  const [, questions = ""] = /id="first-questions">(.*?)<\/table>/s.exec(html) ?? [];
  const rows = questions.split("<tr>").slice(1);
  expect(rows).toHaveLength(9);
  for (const row of rows) expect(linksOf(row)[0]).toMatch(/^(docs|web)\/[\w/-]+\.html/);
  const others = [...pages.keys()].filter((name) => !/^(index|search)/.test(name));
  expect(linksOf(html)).toEqual(expect.arrayContaining(others));
});

test("links that lead nowhere are named, all of them, as are pictures and documents that nobody asks for; nothing is built", async () => {
  const good = [
    "other",
    "other/",
    "other#same-1",
    "../README.md",
    "#größe-50--der-a_b",
    "../code.ts",
    "https://a.example/x",
  ];
  const bad = ["none.md", "other#same-2", "#größe", "../none/", "../code.ts#a", "../../README.md"];
  const text = `# A\n\n## Größe: 50 % der \`a_b\`\n\n${[...good, ...bad].map((to) => `[to](${to})`).join("\n")}\n\n![p](p.png)\n\n\`[a](code)\`\n`;
  const root = await checkout("lost", {
    "docs/audit.md": text,
    "docs/other/README.md": "# O\n\n## Same\n\n## [Same](../audit.md)\n",
    "docs/new.md": "# New\n",
    "code.ts": "",
  });
  const { site, exitCode, said } = await build("of-lost", "--of", root);
  expect(exitCode).toBe(1);
  expect(said.trim().split("\n").sort()).toEqual(
    [
      ...bad.map((to) => `docs/audit.md: ${to.startsWith("#") ? encodeURI(to) : to} leads nowhere`),
      "docs/audit.md: the picture p.png is not in the repository",
      "docs/new.md: web/page/documents/build.ts has no question for it",
    ].sort(),
  );
  expect(existsSync(site)).toBe(false);
});

test("what a document says is text, and its code too", async () => {
  const hostile = '# A `<b>` & "c"\n\n```html\n<script>alert(1)</script>\n```\n\n## B `</h2><img src=x>`\n';
  const { site, said } = await build("of-text", "--of", await checkout("text", { "docs/audit.md": hostile }));
  expect(said).toBe("");
  const html = readFileSync(join(site, "docs/audit.html"), "utf8");
  expect(html).toContain("<title>A &lt;b&gt; &amp; &quot;c&quot; – TrendVault</title>");
  expect(html).not.toMatch(/<script|<img|<b>/);
  expect(readFileSync(join(site, "sections.js"), "utf8")).toContain('"text":"<script>alert(1)</script>"');
});

test("the same commit makes the same archive, with all that the site has and the licences of what runs in it", async () => {
  const pack = async (name: string) => {
    const { said } = await build(name, "--archive", join(folder, "documents.tar.gz"));
    expect(said).toBe("");
    return Bun.hash(await Bun.file(join(folder, "documents.tar.gz")).arrayBuffer());
  };
  expect(await pack("once")).toBe(await pack("again"));
  const ofTar =
    await Bun.$`tar --list --verbose --full-time --utc --file ${join(folder, "documents.tar.gz")}`.text();
  const ofCommit = Bun.$`git -C ${import.meta.dir} log -1 --format=%cd ${"--date=format-local:%Y-%m-%d %H:%M:%S"}`;
  const time = (await ofCommit.env({ ...process.env, TZ: "UTC" }).text()).trim();
  const listed = ofTar
    .trim()
    .split("\n")
    .map((line) => line.split(` ${time} `)[1]);
  const names = readdirSync(own.site, { recursive: true, encoding: "utf8" });
  expect(listed).toHaveLength(names.length + 1);
  for (const name of ["index.html", "docs/page.png", "THIRD-PARTY.txt"])
    expect(listed).toContain(`documents/${name}`);
});
