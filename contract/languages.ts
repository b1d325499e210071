import { findRegion } from "./regions.ts";

/** The languages of the page (BCP 47): those that web/client/src/view/words has. */
export const pageLanguages: ReadonlySet<string> = new Set([
  ...["en", "de", "fr", "es", "it", "nl", "pl", "sv", "pt", "da", "cs"],
]);

/** The language of a region's page that names none: the first of the region's that the page has, else English. */
export function mainLanguage(region: string): string {
  const primary = findRegion(region)?.languages.map((tag) => tag.split("-")[0]?.toLowerCase() ?? "");
  return primary?.find((language) => pageLanguages.has(language)) ?? "en";
}
