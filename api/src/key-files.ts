import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

export type Environment = Record<string, string | undefined>;

/** An environment with the text of its key files in the place of their paths, and what is wrong with which. */
export type KeyFiles = { values: Environment; failures: { name: string; message: string }[] };

/** The settings that may be in a file, by the name of the setting that has its path. */
const keyFileNames = {
  TOKEN_SIGNING_KEYS_FILE: "TOKEN_SIGNING_KEYS",
  SIGNING_KEY_FILE: "SIGNING_KEY",
  EDGE_KEYS_FILE: "EDGE_KEYS",
} as const;

/** The file of the regions is no secret, and is read with them: its text is in the setting REGIONS_TABLE. */
const regionsFile = { REGIONS_FILE: "REGIONS_TABLE" } as const;

/** All settings that may be in a file. */
export const settingFileNames = { ...keyFileNames, ...regionsFile } as const;

const largestFile = 65_536; // bytes

/** Reads the files that an environment names. No message has a part of a key. */
export function readKeyFiles(env: Environment): KeyFiles {
  const values = { ...env };
  const failures: KeyFiles["failures"] = [];
  for (const [fileName, name] of Object.entries(settingFileNames)) {
    const path = env[fileName];
    if (path === undefined) continue;
    delete values[fileName];
    try {
      if (env[name] !== undefined) throw new Error(`${name} is set as well: delete one of the two`);
      values[name] = readSettingFile(path, { isSecret: !(fileName in regionsFile) });
    } catch (error) {
      failures.push({ name: fileName, message: (error as Error).message });
    }
  }
  return { values, failures };
}

function readSettingFile(path: string, { isSecret }: { isSecret: boolean }): string {
  const file = openFile(path);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    if (isSecret && (stat.mode & 0o007) !== 0)
      throw new Error(`${path} is open to every user: chmod o= ${path}`);
    if (stat.size > largestFile) throw new Error(`${path} has more than ${largestFile} bytes`);
    const text = readFileSync(file, "utf8").trim();
    if (text === "") throw new Error(`${path} is empty`);
    return text;
  } finally {
    closeSync(file);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // without it, a FIFO would be waited for
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`cannot read ${path === "" ? "a file without a name" : path} (${code})`);
  }
}
