import { join } from "node:path";

/**
 * What the checkout at `root` says about the release that it would make: its version (of package.json, which the
 * client's has, too), its commit and the commit's time, what has changed, and as sentences what has to be done before the
 * tag. `releasing` is the tag that is there already because it is being released, else null.
 *
 * @throws Error when it is no Git checkout
 */
export async function readState(root: string, releasing: string | null = null) {
  const [product, client] = await Promise.all([
    versionIn(join(root, "package.json")),
    versionIn(join(root, "web/client/package.json")),
  ]);
  const [commit, seconds] = (await git(root, "log", "-1", "--format=%H %ct")).split(" ");
  const tag = `v${product}`;
  const changes = changesOf(product, await Bun.file(join(root, "CHANGELOG.md")).text());
  const todo = [
    ...(product === client
      ? []
      : [`package.json has ${product} and web/client/package.json ${client}: make them the same.`]),
    ...(changes?.version === product && changes.date !== null
      ? []
      : [
          `CHANGELOG.md: put "## ${product} - ${new Date().toISOString().slice(0, 10)}" under "## Unreleased", above what has changed.`,
        ]),
    ...((await git(root, "status", "--porcelain")) === ""
      ? []
      : ["The checkout has changes that are not committed."]),
    ...(await tagProblems(root, { tag, releasing })),
  ];
  const time = new Date(Number(seconds) * 1000);
  return { version: product, tag, commit: commit ?? "", time, changes, todo };
}

async function tagProblems(
  root: string,
  { tag, releasing }: { tag: string; releasing: string | null },
): Promise<string[]> {
  if (releasing !== null)
    return releasing === tag ? [] : [`The tag ${releasing} is not the version's, which is ${tag}.`];
  const isThere = (await git(root, "tag", "--list", tag)) !== "";
  return isThere ? [`The tag ${tag} is there already: raise the version.`] : [];
}

async function versionIn(path: string): Promise<string> {
  const { version } = (await Bun.file(path).json()) as { version?: string };
  if (version === undefined || !/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version))
    throw new Error(`${path} has the version ${version}: expected one like 1.2.3 (Semantic Versioning)`);
  return version;
}

async function git(root: string, ...words: string[]): Promise<string> {
  return (await Bun.$`git -C ${root} ${words}`.quiet().text()).trim();
}

const heading = /^## \[?([^\]\s]+)\]?(?: - (\d{4}-\d\d-\d\d))?$/m;

/**
 * What a release of this version says has changed, of a changelog in the form of Keep a Changelog: its own section, else
 * what is not released, which has no date.
 */
function changesOf(wanted: string, changelog: string) {
  const [, ...parts] = changelog.split(heading); // what it captures is between the texts
  const sections = Array.from({ length: parts.length / 3 }, (_, index) => {
    const [version, date = null, text = ""] = parts.slice(3 * index);
    return { version, date, text: text.trim() };
  });
  const find = (name: string) => sections.find(({ version }) => version === name);
  return find(wanted) ?? find("Unreleased") ?? null;
}
