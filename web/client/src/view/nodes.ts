/**
 * A tree of elements and texts: the one template of the list and the page. `toHtml` writes it for the origin, `toDom`
 * (dom.ts) makes it in a browser. A text is never markup, whatever it holds.
 */
export type ViewNode = ViewElement | string;

export type ViewElement = {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly ViewNode[];
};

type Value = string | number | boolean | null | undefined;
type Child = ViewNode | null | readonly Child[];

/**
 * An element. Attributes that are null, undefined or false are left out, true is an empty one; so is an address that is
 * neither http(s) nor of this site nor a mail to nobody yet. @throws Error for what a strict Content-Security-Policy forbids
 */
export function h(tag: string, attributes: Record<string, Value>, ...children: Child[]): ViewElement {
  if (tag === "style") throw new Error("Cannot make a style element: the policy forbids it");
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (/^(on|style$|srcdoc$)/.test(name)) throw new Error(`Cannot set ${name}: the policy forbids it`);
    if (value === null || value === undefined || value === false) continue;
    const text = cleanText(value === true ? "" : String(value));
    if (!addresses.has(name) || isSafeAddress(text)) given[name] = text;
  }
  return { tag, attributes: given, children: children.flatMap(flatten) };
}

/** A block of data for scripts, which browsers do not run. */
export function dataBlock(id: string, json: string, type = "application/json"): ViewElement {
  const text = cleanText(json).replaceAll("<", "\\u003c");
  return { tag: "script", attributes: { type, id }, children: [text] };
}

/** The HTML of a tree. A browser parses it to the same tree. */
export function toHtml(node: ViewNode): string {
  if (typeof node === "string") return escapeText(node);
  const { tag, attributes, children } = node;
  let html = `<${tag}`;
  for (const name in attributes) html += ` ${name}="${escapeText(attributes[name] ?? "")}"`;
  html += ">";
  if (voidElements.has(tag)) return html;
  if (tag === "script" || tag === "style") return `${html}${children.map(rawText).join("")}</${tag}>`;
  for (const child of children) html += toHtml(child);
  return `${html}</${tag}>`;
}

const addresses = new Set(["href", "src", "action", "formaction", "data", "poster", "xlink:href"]);
const voidElements = new Set(["base", "br", "img", "input", "link", "meta"]);

// Of this site: a path that does not begin with two slashes (or a backslash, which browsers take for one), a query, a
// fragment. Browsers drop tabs and line feeds, wherever they are: two slashes could be left.
function isSafeAddress(text: string): boolean {
  return !/[\t\n]/.test(text) && /^(https?:\/\/|mailto:\?|\/(?![/\\])|[?#]|\/$)/.test(text);
}

// A parser drops U+0000 and makes a line feed of a carriage return: then the two trees would differ.
function cleanText(text: string): string {
  return /[\0\r\ud800-\udfff]/.test(text)
    ? text.replace(/[\0\p{Surrogate}]/gu, "\ufffd").replaceAll("\r", "\n")
    : text;
}

function flatten(child: Child): ViewNode[] {
  if (child === null) return [];
  if (typeof child === "string") return child === "" ? [] : [cleanText(child)];
  return "tag" in child ? [child] : child.flatMap(flatten);
}

function escapeText(text: string): string {
  return /[&<>"]/.test(text) ? text.replace(/[&<>"]/g, (character) => escapes[character] ?? "") : text;
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function rawText(child: ViewNode): string {
  if (typeof child !== "string" || child.includes("<"))
    throw new Error("Cannot write this text of a script or style");
  return child;
}
