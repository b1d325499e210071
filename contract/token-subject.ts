import { largestLimit, longestList, type Window, windows } from "./list-bounds.ts";
import { type ListChoice, listName } from "./list-name.ts";

/**
 * The page of a list that a token names. It has `count` ranks after `offset`; ranks of removed videos are among them.
 * `category` is the list's name: "" for all categories together, `#` with a hash for one whose name is too long for a
 * token, and `#language:de` for the list of a language.
 */
export type TokenList = {
  region: string;
  window: Window;
  category: string;
  generation: number;
  offset: number;
  count: number;
};

const longestCategoryBytes = 100; // of JSON text: what is left of 400 characters
const subjectPattern =
  /^([A-Z]{2})\/([a-z]+)\/(.*)\/([1-9][0-9]{0,14})\/(0|[1-9][0-9]{0,3})\+(0|[1-9][0-9]?)$/su;

/** `region/window/category/generation/offset+count`; a category may have slashes, the other parts have none. */
export function writeTokenSubject(list: TokenList): string {
  const { region, window, category, generation, offset, count } = list;
  return `${region}/${window}/${category}/${generation}/${offset}+${count}`;
}

/** Reads a subject, or null when it names no page that there can be. */
export function readTokenSubject(subject: string): TokenList | null {
  const match = subjectPattern.exec(subject);
  if (match === null) return null;
  const [, region = "", window = "", category = "", ...numbers] = match;
  const [generation = 0, offset = 0, count = 0] = numbers.map(Number);
  const list = { region, window: window as Window, category, generation, offset, count };
  return isPossible(list) ? list : null;
}

// Any region: who verifies a token of another's site does not know which regions that has.
function isPossible({ window, category, offset, count }: TokenList): boolean {
  const longest = longestList[category === "" ? "all" : "category"];
  return windows.includes(window) && isShort(category) && count <= largestLimit && offset + count <= longest;
}

/**
 * A category as tokens name it: itself, or `#` with 22 characters of the base64url of the SHA-256 of its UTF-8, when
 * it is too long or begins with `#`.
 */
export function tokenCategory(category: string, sha256Base64url: (text: string) => string): string {
  const isPlain = isShort(category) && !category.startsWith("#");
  return isPlain ? category : `#${sha256Base64url(category).slice(0, 22)}`;
}

/** A list's name in tokens: that of a language can be no category's, which `#` and a hash stand for. */
export function tokenListName(
  { category, language }: ListChoice,
  sha256Base64url: (text: string) => string,
): string {
  return language === undefined ? tokenCategory(category ?? "", sha256Base64url) : listName({ language });
}

function isShort(category: string): boolean {
  return new TextEncoder().encode(JSON.stringify(category)).length - 2 <= longestCategoryBytes;
}
