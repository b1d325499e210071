import { defaultRegion, regionCodes } from "@trendvault/contract/regions";

/** Why a country is given another country's region. */
export type RegionReason = "language" | "neighbour";

/**
 * The region of every European country that has none of its own: Europe as in UN M.49, with Kosovo and Cyprus.
 * A region whose language many people there speak or read comes first; without one, the neighbour, by land or
 * else by sea, that most connects them.
 */
export const regionByCountry: Readonly<Record<string, readonly [region: string, reason: RegionReason]>> = {
  AD: ["ES", "language"], // Catalan, which is Spain's too
  AL: ["IT", "language"], // Italian is the most widely known foreign language
  AX: ["SE", "language"], // Swedish is the only official language
  BA: ["AT", "neighbour"], // no region borders it; Austria is the nearest by land
  BG: ["IT", "neighbour"], // across the Balkans and the Adriatic
  BY: ["PL", "neighbour"], // land border
  CH: ["DE", "language"], // German is the language of most people
  CY: ["GB", "language"], // English is widely spoken
  EE: ["SE", "neighbour"], // across the Baltic Sea
  FI: ["SE", "language"], // Swedish is official
  FO: ["DK", "language"], // Danish is official
  GG: ["GB", "language"], // English
  GI: ["GB", "language"], // English
  GR: ["IT", "neighbour"], // across the Ionian Sea
  HR: ["IT", "language"], // Italian is official in Istria
  HU: ["AT", "neighbour"], // land border
  IM: ["GB", "language"], // English
  IS: ["DK", "language"], // Danish is taught in every school
  JE: ["GB", "language"], // English
  LI: ["AT", "language"], // German, and Austria is next door
  LT: ["PL", "neighbour"], // land border
  LU: ["FR", "language"], // French is the language of law and work
  LV: ["PL", "neighbour"], // the nearest by land
  MC: ["FR", "language"], // French
  MD: ["IT", "language"], // Romanian is nearest to Italian
  ME: ["IT", "neighbour"], // across the Adriatic
  MK: ["IT", "neighbour"], // across the Adriatic, through Albania
  MT: ["GB", "language"], // English is official
  NO: ["SE", "language"], // Norwegians read and understand Swedish
  RO: ["IT", "language"], // Romanian is nearest to Italian
  RS: ["AT", "neighbour"], // Austria is the nearest by land
  RU: ["PL", "neighbour"], // the land border at Kaliningrad
  SI: ["IT", "language"], // Italian is official on the coast
  SJ: ["SE", "language"], // as Norway
  SK: ["CZ", "language"], // Slovaks read and understand Czech
  SM: ["IT", "language"], // Italian
  UA: ["PL", "neighbour"], // land border
  VA: ["IT", "language"], // Italian
  XK: ["IT", "neighbour"], // across the Adriatic, through Albania
};

/**
 * The region for visitors from a country (ISO 3166-1 alpha-2, as `request.cf.country` gives it; also "T1" for Tor
 * and "XX" or undefined where it is not known). Outside Europe, and where nothing is known, it is GB.
 */
export function regionForCountry(country: string | undefined): string {
  if (country === undefined) return defaultRegion;
  if (regionCodes.includes(country)) return country;
  return regionByCountry[country]?.[0] ?? defaultRegion;
}
