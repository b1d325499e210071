import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, resolve } from "node:path";

export type Environment = Record<string, string | undefined>;

/**
 * An environment with the text of its files in the place of their paths, how many it names, what is wrong with which,
 * and which unknown words of languages were left out.
 */
type KeyFiles = {
  values: Environment;
  count: number;
  failures: { name: string; message: string }[];
  leftOut: string[];
};

/** The settings of the origin whose value may be `file:PATH`. */
const keyNames = ["TOKEN_SIGNING_KEYS", "SIGNING_KEYS", "EDGE_KEYS"] as const;

const fileScheme = "file:";

const largestFile = 65_536; // bytes

/** Reads the files that an environment names. No message has a part of a key. */
export function readKeyFiles(env: Environment): KeyFiles {
  const values = { ...env };
  const failures: KeyFiles["failures"] = [];
  const leftOut: string[] = [];
  let count = 0;
  const replace = (name: string, { from = name, read }: { from?: string; read: () => string }) => {
    count++;
    try {
      values[name] = read();
    } catch (error) {
      delete values[name];
      failures.push({ name: from, message: (error as Error).message });
    }
  };
  for (const name of keyNames) {
    const value = env[name];
    if (value?.startsWith(fileScheme)) replace(name, { read: () => readSecret(value) });
  }
  const { REGIONS_FILE: regions } = env;
  delete values.REGIONS_FILE;
  if (regions !== undefined)
    replace("REGIONS_TABLE", { from: "REGIONS_FILE", read: () => readRegionsFile(regions, leftOut) });
  return { values, count, failures, leftOut };
}

/** The text of the file of the regions, with the words of its languages in the place of their paths, but for unknown ones. */
function readRegionsFile(path: string, leftOut: string[]): string {
  const text = readSettingFile(path);
  const table = parse(text);
  if (!table?.languages) return text;
  const all =
    require("../../web/client/src/view/locales/all.ts") as typeof import("../../web/client/src/view/locales/all.ts");
  const given = Object.entries(table.languages);
  const files = given.flatMap(([tag, file]) =>
    typeof file === "string" ? [[tag, resolve(dirname(path), file)] as const] : [],
  );
  const languages = {
    ...Object.fromEntries(given.map(([tag]) => [tag, null])), // what is no path is refused with the whole table
    ...all.readLanguages(Object.fromEntries(files), readSettingFile, (words) => void leftOut.push(words)),
  };
  const whole = JSON.stringify({ ...table, languages });
  if (Buffer.byteLength(whole) <= mostBytes) return whole;
  throw new Error(`${path} has more than ${mostBytes} bytes with its languages`);
}

const mostBytes = 120_000; // workers get it in their environment, where Linux allows a variable 128 KB

/** Null for what is no object: whoever uses the text says what is wrong with it. */
function parse(text: string): { languages?: object } | null {
  try {
    return Object(JSON.parse(text));
  } catch {
    return null;
  }
}

/** A secret, or the text of the file that `file:PATH` names. @throws Error that has no part of it */
export function readSecret(value: string): string {
  if (!value.startsWith(fileScheme)) return value;
  return readSettingFile(value.slice(fileScheme.length), { isSecret: true });
}

/** The text of a setting's file, without white space at its ends. @throws Error that has no part of it */
export function readSettingFile(path: string, { isSecret = false } = {}): string {
  const file = openFile(path);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is not a regular file`);
    if (isSecret && (stat.mode & 0o007) !== 0)
      throw new Error(`${path} is open to every user: chmod o= ${path}`);
    if (stat.size > largestFile) throw new Error(`${path} has more than ${largestFile} bytes`);
    const bytes = Buffer.alloc(stat.size); // files of /proc have no length, and reading some of them never ends
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (!isUtf8(bytes.subarray(0, length))) throw new Error(`${path} is not UTF-8`);
    const text = bytes.toString("utf8", 0, length).trim();
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
