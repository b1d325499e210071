import { describe, expect, test } from "bun:test";
import { drawsOf, hostileText, Random } from "@trendvault/kit/random";
import { Window } from "happy-dom";
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";
import { toDom } from "./dom.ts";
import { dataBlock, h, toHtml, type ViewNode } from "./nodes.ts";

const random = new Random();
const { document } = new Window() as unknown as globalThis.Window;

/** A tree as both of its forms show it: adjacent texts are one. */
type Seen = string | { tag: string; namespace: string; attributes: [string, string][]; children: Seen[] };

function joinTexts(children: Seen[]): Seen[] {
  return children.reduce<Seen[]>((joined, child) => {
    const last = joined.at(-1);
    if (typeof child === "string" && typeof last === "string") joined.splice(-1, 1, last + child);
    else joined.push(child);
    return joined;
  }, []);
}

function seenInHtml(node: DefaultTreeAdapterTypes.ChildNode): Seen {
  if ("value" in node) return node.value;
  if (!("attrs" in node)) throw new Error(`The HTML has a ${node.nodeName}`);
  return {
    tag: node.tagName,
    namespace: node.namespaceURI,
    attributes: node.attrs.map(({ name, value }): [string, string] => [name, value]).sort(),
    children: joinTexts(node.childNodes.map(seenInHtml)),
  };
}

function seenInDom(node: Node): Seen {
  if (node.nodeType === 3) return node.textContent ?? "";
  const element = node as Element;
  return {
    tag: element.tagName.toLowerCase(),
    namespace: element.namespaceURI ?? "",
    attributes: [...element.attributes].map(({ name, value }): [string, string] => [name, value]).sort(),
    children: joinTexts([...element.childNodes].map(seenInDom)),
  };
}

function drawTree(depth: number): ViewNode {
  if (depth === 0 || random.below(4) === 0) return hostileText(random);
  const tag = random.pick(["div", "span", "ol", "a", "img", "details", "svg", "h2", "button"]);
  if (tag === "svg")
    return h("svg", { "aria-label": hostileText(random) }, h("path", { d: hostileText(random) }));
  const attributes = {
    title: hostileText(random),
    href: hostileText(random),
    class: "x",
    hidden: true,
    id: null,
  };
  if (tag === "img") return h("img", attributes);
  // What may be in what is for the templates: inside of a link or a button another one would end it.
  const inner = ["a", "button", "h2"].includes(tag) ? 0 : depth - 1;
  return h(tag, attributes, ...Array.from({ length: random.below(4) }, () => drawTree(inner)));
}

describe("a tree", () => {
  const draws = drawsOf({ usual: 500, long: 20_000 });
  test(`is the same as HTML that was parsed and as elements that were made (seed ${random.seed})`, () => {
    for (let draw = 0; draw < draws; draw++) {
      const tree = h("div", {}, drawTree(4));
      const [parsed, ...more] = parseFragment(toHtml(tree)).childNodes;
      expect(more).toEqual([]);
      if (parsed === undefined) throw new Error("The HTML is empty");
      expect(seenInHtml(parsed)).toEqual(seenInDom(toDom(tree, document)));
    }
  });

  test(`has every text as it was given, but for what HTML cannot hold (seed ${random.seed})`, () => {
    for (let draw = 0; draw < draws; draw++) {
      const text = hostileText(random);
      const shown = text.toWellFormed().replaceAll("\0", "\ufffd").replaceAll("\r", "\n");
      expect(toDom(h("p", {}, text), document).textContent).toBe(shown);
    }
  });

  test("has no address of another scheme, host or script", () => {
    for (const href of [
      "javascript:alert(1)",
      "/\t/other.example",
      "\t//other.example",
      "/\n\\other.example",
      "//x.example",
      "/\\x.example",
      "data:text/html,x",
      " https://x",
      "mailto:somebody@x.example",
    ]) {
      expect(toHtml(h("a", { href }))).toBe("<a></a>");
    }
    for (const href of [
      "/",
      "/?region=PL",
      "?a=b",
      "#top",
      "https://x.example/a",
      "http://127.0.0.1:1/",
      "mailto:?body=x",
    ]) {
      expect(toHtml(h("a", { href }))).toBe(`<a href="${href}"></a>`);
    }
  });

  test("cannot be made of what the policy forbids", () => {
    expect(() => h("style", {})).toThrow("policy");
    for (const name of ["style", "onclick", "srcdoc"])
      expect(() => h("p", { [name]: "x" })).toThrow("policy");
    expect(() => toHtml(h("script", {}, "a < b"))).toThrow("script");
  });
});

test(`a block of data is what was put in, and ends where it should (seed ${random.seed})`, () => {
  for (let draw = 0; draw < 500; draw++) {
    const data = { title: hostileText(random).toWellFormed() };
    const { childNodes } = parseFragment(
      toHtml(h("div", {}, dataBlock("data", JSON.stringify(data)), "after")),
    );
    const [block, after] = (childNodes[0] as DefaultTreeAdapterTypes.Element).childNodes;
    const [text] = (block as DefaultTreeAdapterTypes.Element).childNodes;
    expect(JSON.parse((text as DefaultTreeAdapterTypes.TextNode).value)).toEqual(data);
    expect(after).toMatchObject({ value: "after" });
  }
});
