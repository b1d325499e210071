import type { ViewNode } from "./nodes.ts";

const svg = "http://www.w3.org/2000/svg";

/** Makes a tree in a document, with createElement and createTextNode only. */
export function toDom(node: ViewNode, document: Document, namespace?: string): Element | Text {
  if (typeof node === "string") return document.createTextNode(node);
  const { tag, attributes, children } = node;
  const inner = tag === "svg" ? svg : namespace;
  const element = inner === undefined ? document.createElement(tag) : document.createElementNS(inner, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) element.append(toDom(child, document, inner));
  return element;
}
