import { expect, test } from "bun:test";
import { join } from "node:path";
import { changesOf, readSections } from "./changelog.ts";

const changelog = `# Changelog

Words before the first section.

## Unreleased

### Added

- new

## 1.1.0 - 2026-12-01

- of 1.1

## [1.0.0] - 2026-11-22

- of 1.0
`;

test("a version's changes are its own section, whether or not its heading is a link", () => {
  const sections = readSections(changelog);
  expect(changesOf("1.1.0", sections)).toEqual({ version: "1.1.0", date: "2026-12-01", text: "- of 1.1" });
  expect(changesOf("1.0.0", sections)?.date).toBe("2026-11-22");
});

test("without a section of its own a version has what is not released", () => {
  const section = changesOf("2.0.0", readSections(changelog));
  expect(section).toEqual({ version: "Unreleased", date: null, text: "### Added\n\n- new" });
  expect(changesOf("2.0.0", [])).toBeNull();
});

test("this project's changelog keeps to the form: the newest first, and only the six kinds of changes", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../CHANGELOG.md")).text();
  const sections = readSections(text);
  expect(sections[0]?.version).toBe("Unreleased");
  const dates = sections.slice(1).map(({ date }) => date ?? "a version without a date");
  expect(dates).toEqual([...dates].sort().reverse());
  const kinds = [...text.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind);
  const allowed = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
  expect(kinds.filter((kind) => !allowed.includes(kind ?? ""))).toEqual([]);
});
