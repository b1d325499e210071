import MiniSearch from "minisearch";

/** The search of the documents, on its page: of the words after `?q=`, and of what is typed. */

/**
 * A part of a document, below a heading. `address` is that on the site, `question` what the document answers, in its first
 * part; `weight` is how much its finds count.
 */
export type Section = {
  address: string;
  title: string;
  question: string;
  heading: string;
  text: string;
  weight: number;
};

declare const sections: readonly Section[]; // of sections.js

const shown = 20;
const [before, after] = [60, 180]; // characters of a section beside the first word that was found
const passedOver =
  /^(an?|and|are|as|at|be|by|can|do|does|for|from|how|i|if|in|is|its?|me|my|of|on|or|that|the|this|to|what|when|where|which|who|why|will|with|your?)$/i;

const index = new MiniSearch<Section>({
  idField: "address",
  fields: ["heading", "question", "title", "text"],
  storeFields: ["title", "heading", "text", "weight"],
  processTerm: (word) => (passedOver.test(word) ? null : stemOf(word)),
  searchOptions: {
    boost: { heading: 4, question: 3, title: 2 },
    boostDocument: (_address, _term, stored) => Number(stored?.weight),
    weights: { prefix: 0.8, fuzzy: 0.3 },
    prefix: (stem) => stem.length > 2,
    fuzzy: (stem) => (stem.length > 4 ? 0.2 : false),
  },
});
index.addAll(sections);

const input = document.querySelector<HTMLInputElement>("input[type=search]");
if (input !== null) {
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", () => show(input.value));
  show(input.value);
}

function show(words: string): void {
  const every = index.search(words, { combineWith: "AND" });
  const found = every.length > 0 ? every : index.search(words);
  const list = found.slice(0, shown).map(({ id, title, heading, text, terms }) => {
    const link = document.createElement("a");
    link.href = id;
    link.textContent = heading === title ? title : `${title}: ${heading}`;
    const [item, excerpt] = [document.createElement("li"), document.createElement("p")];
    excerpt.append(...excerptOf(text, terms));
    item.append(link, excerpt);
    return item;
  });
  const said = words.trim() === "" ? "Type words." : `${list.length === 0 ? "Nothing" : found.length} found.`;
  document.querySelector("[role=status]")?.replaceChildren(said);
  document.querySelector(".results")?.replaceChildren(...list);
}

/** The words of a text around the first one that was found, with all of these marked. */
function excerptOf(text: string, terms: readonly string[]): (string | HTMLElement)[] {
  const isFound = (word: string) => terms.includes(stemOf(word));
  const words = text.split(/([\p{L}\p{N}]+)/u);
  const first = words.slice(0, Math.max(0, words.findIndex(isFound))).join("").length;
  const [start, end] = [Math.max(0, first - before), first + after];
  const [half, otherHalf] = [start > 0 ? /^\S*/ : "", end < text.length ? /\S*$/ : ""];
  const part = text.slice(start, end).replace(half, start > 0 ? "…" : "");
  const whole = part.replace(otherHalf, end < text.length ? "…" : "");
  return whole.split(/([\p{L}\p{N}]+)/u).map((word) => {
    if (!isFound(word)) return word;
    const mark = document.createElement("mark");
    mark.textContent = word;
    return mark;
  });
}

/** Without case, accents and the commonest endings of English, so that "leaving" finds "leave". */
function stemOf(word: string): string {
  const plain = word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.length > 4 ? plain.replace(/(ing|ed|es|s|e)$/, "") : plain;
}
