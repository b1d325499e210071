import { defaultRegion, regions } from "@trendvault/contract/regions";

/** Of each country that is named in the table of regions: its region. Here and not in the contract: only the edge asks. */
const regionByCountry = new Map(
  regions.flatMap(({ code, countries = [] }) => [code, ...countries].map((country) => [country, code])),
);

/**
 * The region for visitors from a country (ISO 3166-1 alpha-2, as `request.cf.country` gives it; also "T1" for Tor
 * and "XX" or undefined where it is not known).
 */
export function regionForCountry(country = ""): string {
  return regionByCountry.get(country) ?? defaultRegion;
}
