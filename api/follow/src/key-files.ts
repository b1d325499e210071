import { readFileSync, statSync } from "node:fs";

export type Environment = Record<string, string | undefined>;

/** The text of a file with a secret. @throws Error that has no part of it */
export function readKeyFile(name: string, path: string): string {
  const stat = attempt(name, path, () => statSync(path));
  if (!stat.isFile()) throw new Error(`${name}: ${path} is not a regular file`);
  if ((stat.mode & 0o007) !== 0) throw new Error(`${name}: ${path} is open to every user: chmod o= ${path}`);
  const text = attempt(name, path, () => readFileSync(path, "utf8")).trim();
  if (text === "") throw new Error(`${name}: ${path} is empty`);
  return text;
}

function attempt<T>(name: string, path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: cannot read ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
}
