import { readFileSync } from "node:fs";
import { join } from "node:path";
import { regions } from "@trendvault/contract/regions";

/** A line of the writer's input (docs/observations.md). */
export type Line = { id: string; region: string; observed_at: string; views: number; title: string };

type Vocabulary = { words: Record<string, string[]>; titles: Record<string, string[]> };

const hour = 3_600_000;
const videosPerRegion = 60; // two and a half pages
const hours = 25; // so that sparklines are whole

/**
 * Every region's videos, counted every hour: what a list of the demo looks like, in the region's language. `pictures` is
 * what their pictures are below. Some videos rise and some fall within the last hour.
 */
export function catalogue(pictures: string, now: number): Line[] {
  const lines = regions.flatMap(({ code, languages: [language = "en"] }) => {
    const vocabulary = vocabularyOf(language);
    return Array.from({ length: videosPerRegion }, (_, n) =>
      describe(vocabulary, { code, n, pictures }),
    ).flatMap((video, n) =>
      Array.from({ length: hours }, (_, ago) => ({
        ...video,
        observed_at: new Date(now - ago * hour).toISOString().replace(/\.\d+Z$/, "Z"),
        views: viewsOf(n, hours - ago),
      })),
    );
  });
  // As they would come: the writer links an observation to the one before it.
  return lines.sort((left, right) => left.observed_at.localeCompare(right.observed_at));
}

/** The views of the n-th video after some hours; never fewer than before. */
function viewsOf(n: number, passed: number): number {
  const usual = 4000 / (1 + n / 6);
  const wave = 1 + 0.7 * Math.sin(n + passed / (2 + (n % 5)));
  const burst = passed === hours && n % 3 === 0 ? 2.5 : 0;
  let views = 0;
  for (let each = 0; each <= passed; each++) {
    views += usual * (each === passed ? wave + burst : 1 + 0.7 * Math.sin(n + each / (2 + (n % 5))));
  }
  return Math.round(views);
}

function describe(
  { words, titles }: Vocabulary,
  { code, n, pictures }: { code: string; n: number; pictures: string },
) {
  const categories = Object.keys(titles);
  const category = categories[n % 6] ?? "Music";
  const templates = titles[category] ?? [];
  let used = n * 7;
  const fill = (template: string) =>
    template.replace(
      /\{(\w+)\}/g,
      (_, name: string) => words[name]?.[used++ % words[name].length] ?? String(n + 3),
    );
  const id = `${code.toLowerCase()}-${n}`;
  return {
    id,
    region: code,
    title: fill(templates[Math.floor(n / 6) % templates.length] ?? id),
    channel: fill("{first} {last}"),
    category,
    thumb_base: `${pictures}/${category.toLowerCase().replace(/[^a-z]+/g, "-")}/${id}`,
    url: `https://videos.example/watch/${id}`,
  };
}

function vocabularyOf(language: string): Vocabulary {
  const path = join(import.meta.dirname, `../../../writer/src/Demo/languages/${language}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as Vocabulary;
}
