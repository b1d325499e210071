import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";

const client = join(import.meta.dir, "..");

/** A folder in which the package is installed from its tarball (package.tgz). */
export async function packedPackage(): Promise<{ folder: string; remove: () => void }> {
  const folder = newFolder("packed");
  await Bun.$`bun run install-packed ${folder}`.cwd(client).quiet();
  mkdirSync(join(folder, "examples"));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

/** The examples of README.md in a language, with the address of a server in place of the one that they name. */
export function readmeExamples(language: string, address: string): string[] {
  const text = readFileSync(join(client, "README.md"), "utf8");
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))];
  return blocks.map(([, code = ""]) => code.replaceAll("https://trending.example.com", address));
}
