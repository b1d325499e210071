import type { RegionTable } from "@trendvault/contract/regions";

/** The countries that are no region of their own, by the one that they belong to. */
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
/** The region of each country that is none. */
export const worldTerritories: ReadonlyMap<string, string> = new Map(
  Object.entries(territories).flatMap(([region, codes]) => codes.split(" ").map((code) => [code, region])),
);
const ofNoRegion = "AQ";

/** 200 regions: every country of the world, in its likeliest language (CLDR), but Antarctica, which gets the default. */
export function worldRegions(): RegionTable {
  const names = new Intl.DisplayNames("en", { type: "region" });
  const codes = countries.filter((code) => code !== ofNoRegion && !worldTerritories.has(code));
  const regions = codes.map((code) => ({
    code,
    name: names.of(code) ?? code,
    languages: [new Intl.Locale(`und-${code}`).maximize().language],
    ...(territories[code] === undefined ? {} : { countries: territories[code].split(" ") }),
  }));
  return { default: "US", regions };
}

/** All codes of ISO 3166-1 alpha-2, and XK for Kosovo, which Cloudflare uses too: 250. */
export const countries: readonly string[] = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
  CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO
  FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE
  JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO
  MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW
  PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM
  TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW XK`
  .trim()
  .split(/\s+/);

/** The regions and the European countries that get them, written down apart from the Worker's own table. */
export const europeByRegion: Readonly<Record<string, string>> = {
  GB: "GB CY GG GI IM JE MT",
  DE: "DE CH",
  FR: "FR LU MC",
  ES: "ES AD",
  IT: "IT AL BG GR HR MD ME MK RO SI SM VA XK",
  NL: "NL",
  PL: "PL BY LT LV RU UA",
  SE: "SE AX EE FI NO SJ",
  PT: "PT",
  BE: "BE",
  AT: "AT BA HU LI RS",
  IE: "IE",
  DK: "DK FO IS",
  CZ: "CZ SK",
};
