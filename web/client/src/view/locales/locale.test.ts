import { expect, test } from "bun:test";
import { mainLanguage } from "@trendvault/contract/page";
import { regionCodes } from "@trendvault/contract/regions";
import { languageOf, likelyLanguage } from "./locale.ts";

test("without `lang`, the element has the language that the page of the region has", () => {
  const languages = regionCodes.map((code) => languageOf(likelyLanguage(code.toLowerCase())));
  expect(languages).toEqual(regionCodes.map(mainLanguage) as typeof languages);
});

test.each([
  ["BR", "pt"],
  ["US", "en"],
  ["JP", "ja"],
  ["XK", "sq"],
  ["ZZ", "en"],
  ["", "en"],
  ["GBR", "en"],
  [null, "en"],
])("in %p people are likely to read %p", (region, language) => {
  expect(likelyLanguage(region)).toBe(language);
});
