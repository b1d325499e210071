/** A section of a changelog in the form of Keep a Changelog. `date` is null of what is not released. */
export type Section = { version: string; date: string | null; text: string };

const heading = /^## (?:\[)?(?<version>[^\]\s]+)(?:\])?(?: - (?<date>\d{4}-\d\d-\d\d))?$/;

/** The sections of CHANGELOG.md, the newest first. */
export function readSections(changelog: string): Section[] {
  const sections: (Section & { lines: string[] })[] = [];
  for (const line of changelog.split("\n")) {
    const { version, date } = heading.exec(line)?.groups ?? {};
    if (version !== undefined) sections.push({ version, date: date ?? null, text: "", lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ version, date, lines }) => ({ version, date, text: lines.join("\n").trim() }));
}

/** What a release of this version says has changed: its own section, else what is not released. */
export function changesOf(version: string, sections: readonly Section[]): Section | null {
  const ofVersion = sections.find((section) => section.version === version);
  return ofVersion ?? sections.find((section) => section.version === "Unreleased") ?? null;
}
