import { describe, expect, test } from "bun:test";
import { countries } from "@trendvault/contract/test-support/countries";
import { europeByRegion } from "../../test/countries.ts";
import { regionForCountry } from "./region-for-country.ts";

test("there are 250 countries: the 249 of ISO 3166-1 and Kosovo", () => {
  expect(new Set(countries).size).toBe(250);
});

describe("in Europe", () => {
  test.each(Object.entries(europeByRegion))("%s is the region of %s", (region, codes) => {
    expect(codes.split(" ").map((code) => regionForCountry(code))).toEqual(
      codes.split(" ").map(() => region),
    );
  });
});

test("every country outside Europe gets GB", () => {
  const european = Object.values(europeByRegion).join(" ").split(" ");
  const elsewhere = countries.filter((country) => !european.includes(country));
  expect(elsewhere).toHaveLength(250 - 53);
  expect(new Set(elsewhere.map((code) => regionForCountry(code)))).toEqual(new Set(["GB"]));
});

test.each([undefined, "", "T1", "XX", "de", "constructor", "__proto__"])("%p gets GB", (country) => {
  expect(regionForCountry(country)).toBe("GB");
});
