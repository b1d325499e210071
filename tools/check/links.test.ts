import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import rule from "./links.ts";

test("a link that leads nowhere is found with its line: a file, a heading, and one in a folder", () => {
  const folder = newFolder("links");
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs/b.md"), "# One `two`: three\n\n## Same\n\n## Same\n");
  const good = [
    "docs",
    "docs/b.md",
    "docs/b.md#one-two-three",
    "docs/b.md#same-1",
    "https://a.example/x",
    "#a-b",
  ];
  const bad = ["docs/c.md", "docs/b.md#two", "docs/b.md#same-2", "#b", "../none"];
  const lines = [
    "# A b",
    ...[...good, ...bad].map((target) => `[a](${target})`),
    "`[a](code)`",
    "```",
    "[a](x)",
    "```",
  ];
  const found: unknown[] = [];
  const name = join(folder, "a.md");
  writeFileSync(name, lines.join("\n"));
  rule.function({ name, lines }, (error) => found.push(error));
  expect(found).toEqual(bad.map((detail, index) => ({ lineNumber: 2 + good.length + index, detail })));
});
