import { regions } from "./regions.ts";

/** The languages of the page: the main one of each region (BCP 47). */
export const pageLanguages: ReadonlySet<string> = new Set(
  regions.map(({ languages }) => languages[0] ?? "en"),
);

/** The language of a region's page that names none. */
export function mainLanguage(region: string): string {
  return regions.find(({ code }) => code === region)?.languages[0] ?? "en";
}
