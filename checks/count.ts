import { XMLParser, XMLValidator } from "fast-xml-parser";

export type TestCount = { passed: number; failed: number; skipped: readonly Skipped[] };

/** `reason` is null where the report gives none. */
type Skipped = { name: string; reason: string | null };

type Element = Record<string, unknown>;

/**
 * Counts the test cases of a JUnit report (bun, PHPUnit and pytest write slightly different ones;
 * `<testcase>` with an optional `<failure>`, `<error>` or `<skipped>` inside is what they share).
 * Throws when the text is not a whole XML document: a runner that died leaves half a report.
 */
export function countJunit(xml: string): TestCount {
  const valid = XMLValidator.validate(xml);
  if (valid !== true) throw new Error(`the JUnit report is not valid XML: ${valid.err.msg}`);
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    isArray: (_name, _path, _leaf, attribute) => !attribute,
  });
  const cases = findAll(parser.parse(xml), "testcase");
  const skipped = cases.filter((testcase) => "skipped" in testcase);
  const failed = cases.filter((testcase) => "failure" in testcase || "error" in testcase);
  return {
    passed: cases.length - failed.length - skipped.length,
    failed: failed.length,
    skipped: skipped.map(describeSkipped),
  };
}

/** Reads the last line of the form "N passed, N failed"; null where there is none. */
export function countClosingLine(output: string): TestCount | null {
  const found = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
  return found ? { passed: Number(found[1]), failed: Number(found[2]), skipped: [] } : null;
}

function findAll(node: unknown, tag: string): Element[] {
  if (Array.isArray(node)) return node.flatMap((child) => findAll(child, tag));
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, child]) =>
    name === tag ? (child as Element[]) : findAll(child, tag),
  );
}

function describeSkipped(testcase: Element): Skipped {
  const [mark] = testcase.skipped as (Element | string)[];
  const reason = typeof mark === "object" ? (mark.message ?? mark["#text"]) : mark;
  return { name: String(testcase.name), reason: reason ? String(reason) : null };
}
