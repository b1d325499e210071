import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Clock, type Clocks, type Part, parts } from "./clocks.ts";
import { findUnmoved } from "./movable-clocks.ts";

let folder = "";
const pathOf = (part: Part) => join(folder, part);
const offsetOf = (part: Part) => Number(readFileSync(pathOf(part), "utf8"));

function makeClocks(): Clocks {
  folder = mkdtempSync(join(tmpdir(), "trendvault-clocks-"));
  const of = (part: Part) => new Clock(pathOf(part));
  const remove = () => rmSync(folder, { recursive: true });
  return { writer: of("writer"), origin: of("origin"), edge: of("edge"), remove };
}

test("a part that takes no notice of its clock is named, and all clocks are right again", async () => {
  const clocks = makeClocks();
  const now = () => performance.now() / 1000;
  const read = {
    writer: async () => now() + offsetOf("writer"),
    origin: async () => now(),
    edge: async () => now() + offsetOf("edge"),
  };
  const unmoved = await findUnmoved(clocks, read, { pauseMs: 0, tries: 3 });
  expect(unmoved.parts).toEqual(["origin"]);
  expect(unmoved.sentences.join()).toStartWith("The origin's clock was not moved");
  expect(parts.map(offsetOf)).toEqual([0, 0, 0]);
  clocks.remove();
});

test("without libfaketime nothing is moved, and the result says why", async () => {
  const read = { writer: async () => 0, origin: async () => 0, edge: async () => 0 };
  expect(await findUnmoved("there is no apt here", read)).toEqual({
    parts,
    sentences: ["No clock was moved: there is no apt here"],
  });
});

test("a clock's file says how far it is from the truth, with a sign", () => {
  const clocks = makeClocks();
  const said = (seconds: number) => {
    clocks.edge.moveBy(seconds);
    return readFileSync(pathOf("edge"), "utf8");
  };
  expect([said(0), said(90), said(-300)]).toEqual(["+0\n", "+90\n", "-300\n"]);
  clocks.remove();
});
