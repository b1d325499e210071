import type { RegionTable } from "../regions.ts";
import { countries } from "./countries.ts";

/** The countries that are no market of their own, by the one that they belong to. */
const territories: Readonly<Record<string, string>> = {
  FR: "BL GF GP MF MQ NC PF PM RE TF WF YT",
  GB: "AI BM FK GG GI GS IM IO JE KY MS PN SH TC VG",
  US: "AS GU MP PR UM VI",
  NL: "AW BQ CW SX",
  AU: "CC CX HM NF",
  NZ: "CK NU TK",
  NO: "BV SJ",
  DK: "FO GL",
  FI: "AX",
};
/** The market of each country that is none. */
export const worldTerritories: ReadonlyMap<string, string> = new Map(
  Object.entries(territories).flatMap(([region, codes]) => codes.split(" ").map((code) => [code, region])),
);
const ofNoMarket = "AQ";

/** 200 markets: every country of the world, in its likeliest language (CLDR), but Antarctica, which gets the default. */
export function worldRegions(): RegionTable {
  const names = new Intl.DisplayNames("en", { type: "region" });
  const codes = countries.filter((code) => code !== ofNoMarket && !worldTerritories.has(code));
  const regions = codes.map((code) => ({
    code,
    name: names.of(code) ?? code,
    languages: [new Intl.Locale(`und-${code}`).maximize().language],
    ...(territories[code] === undefined ? {} : { countries: territories[code].split(" ") }),
  }));
  return { default: "US", regions };
}
