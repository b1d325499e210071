import { rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";

const root = join(import.meta.dir, "../..");

/** What of `revision` breaks a client of `base`, a sentence each. Both are OpenAPI documents. */
export async function breakingChanges(base: object, revision: object): Promise<string[]> {
  const folder = newFolder("openapi");
  try {
    await Bun.write(join(folder, "base.json"), JSON.stringify(base));
    await Bun.write(join(folder, "revision.json"), JSON.stringify(revision));
    return (await compare(folder)).flatMap(describe);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// docs/http-api.md lets answers have new values, but takes none away.
const options = ["--format=json", "--fail-on=none", "--skip-rule=enum-values-added"];

async function compare(cwd: string): Promise<Change[]> {
  const command = ["node", join(root, "node_modules/.bin/redocly"), "diff", "base.json", "revision.json"];
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const redocly = Bun.spawn([...command, ...options], { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [report, log] = [await redocly.stdout.text(), await redocly.stderr.text()];
  if ((await redocly.exited) !== 0) throw new Error(`redocly cannot compare the documents: ${log}`);
  return (JSON.parse(report) as { changes: Change[] }).changes;
}

/** A change in Redocly's report; `path` is a JSON pointer into the documents with their references resolved. */
type Change = {
  path: string;
  impact: "patch" | "minor" | "major";
  verdicts?: { impact: string; message: string }[];
  property?: string;
  base?: { value?: unknown };
  revision?: { value?: unknown };
};

function describe({ path, impact, verdicts = [], property, base, revision }: Change): string[] {
  const place = decodeURIComponent(path);
  const verdict = verdicts
    .filter((one) => one.impact === "major")
    .map(({ message }) => `${place}: ${message}`);
  if (impact === "major") return verdict.length === 0 ? [place] : verdict;
  const lost = property === "enum" ? missingOf(base?.value, revision?.value) : [];
  return lost.length === 0 ? [] : [`${place}: the values ${lost.join(", ")} were removed.`];
}

function missingOf(before: unknown, after: unknown): unknown[] {
  if (!Array.isArray(before)) return [];
  return before.filter((value) => !(Array.isArray(after) && after.includes(value)));
}
