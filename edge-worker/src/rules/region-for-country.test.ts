import { describe, expect, test } from "bun:test";
import { regionCodes } from "@trendvault/contract/regions";
import { countries, europeByRegion } from "../../test/countries.ts";
import { regionByCountry, regionForCountry } from "./region-for-country.ts";

test("there are 250 countries: the 249 of ISO 3166-1 and Kosovo", () => {
  expect(new Set(countries).size).toBe(250);
});

describe("in Europe", () => {
  test.each(Object.entries(europeByRegion))("%s is the region of %s", (region, codes) => {
    expect(codes.split(" ").map(regionForCountry)).toEqual(codes.split(" ").map(() => region));
  });
});

test("every country outside Europe gets GB", () => {
  const european = Object.values(europeByRegion).join(" ").split(" ");
  const elsewhere = countries.filter((country) => !european.includes(country));
  expect(elsewhere).toHaveLength(250 - 53);
  expect(new Set(elsewhere.map(regionForCountry))).toEqual(new Set(["GB"]));
});

test.each([undefined, "", "T1", "XX", "de", "constructor", "__proto__"])("%p gets GB", (country) => {
  expect(regionForCountry(country)).toBe("GB");
});

test("a country with a region of its own is in no other table row", () => {
  expect(Object.keys(regionByCountry).filter((country) => regionCodes.includes(country))).toEqual([]);
});
