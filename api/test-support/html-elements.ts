import { type DefaultTreeAdapterTypes, parse } from "parse5";

export type Element = DefaultTreeAdapterTypes.Element;

/** Every element of a document, also in templates and so in shadow roots, as a browser's parser makes them. */
export function parseElements(html: string): Element[] {
  const walk = (node: DefaultTreeAdapterTypes.Node): Element[] => {
    const content = "content" in node ? node.content.childNodes : [];
    const children = "childNodes" in node ? node.childNodes : [];
    return [...("tagName" in node ? [node] : []), ...[...children, ...content].flatMap(walk)];
  };
  return walk(parse(html));
}

export function attribute({ attrs }: Element, name: string): string | null {
  return attrs.find((one) => one.name === name)?.value ?? null;
}

export function textOf(node: DefaultTreeAdapterTypes.Node): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

/** Those with a tag. */
export function named(elements: readonly Element[], tag: string): Element[] {
  return elements.filter(({ tagName }) => tagName === tag);
}

/** Those with a class. */
export function classed(elements: readonly Element[], name: string): Element[] {
  return elements.filter((element) => attribute(element, "class")?.split(" ").includes(name));
}
