import { basename } from "node:path";
import { XMLParser, XMLValidator } from "fast-xml-parser";

/** `failures` may hold fewer than `failed`: not every suite names its tests. */
export type TestCount = {
  passed: number;
  failed: number;
  skipped: readonly Skipped[];
  failures: readonly Failure[];
};

/** `name` with the file or class that the report gives; `message` is the runner's, of any length and with its line ends. */
export type Failure = { name: string; message: string };

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
    attributeNamePrefix: "@", // node gives a failed case an attribute and a child of one name
    htmlEntities: true, // for line ends, which are numbers there
    isArray: (_name, _path, _leaf, attribute) => !attribute,
  });
  const cases = findAll(parser.parse(xml), "testcase");
  const skipped = cases.filter((testcase) => "skipped" in testcase);
  const failed = cases.filter((testcase) => "failure" in testcase || "error" in testcase);
  return {
    passed: cases.length - failed.length - skipped.length,
    failed: failed.length,
    skipped: skipped.map(describeSkipped),
    failures: failed.map(describeFailure),
  };
}

/**
 * Reads the last line of the form "N passed, N failed", and as names of failed tests the lines "FAILED <name>"; null
 * where nothing is counted.
 */
export function countClosingLine(output: string): TestCount | null {
  const found = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
  if (!found) return null;
  const failures = [...output.matchAll(/^FAILED (.+)$/gm)].map(([, name]) => ({
    name: String(name),
    message: "",
  }));
  return { passed: Number(found[1]), failed: Number(found[2]), skipped: [], failures };
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
  const reason = typeof mark === "object" ? (mark["@message"] ?? mark["#text"]) : mark;
  return { name: String(testcase["@name"]), reason: reason ? String(reason) : null };
}

function describeFailure(testcase: Element): Failure {
  const [mark] = (testcase.failure ?? testcase.error) as (Element | string)[];
  const message = typeof mark === "object" ? (mark["@message"] ?? mark["#text"]) : mark;
  return { name: nameWithPlace(testcase), message: withoutName(String(message ?? "")) };
}

/** PHPUnit and Bun give the file, pytest the module as class, node no more than the word "test". */
function nameWithPlace({ "@name": name, "@file": file, "@classname": classname }: Element): string {
  const place = file ? basename(String(file)) : classname;
  return place && place !== "test" ? `${place}: ${name}` : String(name);
}

/** PHPUnit's text begins with a line of class and test. */
function withoutName(text: string): string {
  return text.replace(/^[\w\\]+::.*\n/, "");
}
