import { defaultRegion, regionCodes } from "@trendvault/contract/regions";

/**
 * The region of every European country that has none of its own: Europe as in UN M.49, with Kosovo and Cyprus.
 * A region whose language many people there speak or read comes first; without one, the neighbour, by land or
 * else by sea, that most connects them.
 */
export const regionByCountry: Readonly<Record<string, string>> = {
  AD: "ES", // Catalan, which is Spain's too
  AL: "IT", // Italian is the most widely known foreign language
  AX: "SE", // Swedish is the only official language
  BA: "AT", // no region borders it; Austria is the nearest by land
  BG: "IT", // across the Balkans and the Adriatic
  BY: "PL", // land border
  CH: "DE", // German is the language of most people
  CY: "GB", // English is widely spoken
  EE: "SE", // across the Baltic Sea
  FI: "SE", // Swedish is official
  FO: "DK", // Danish is official
  GG: "GB", // English
  GI: "GB", // English
  GR: "IT", // across the Ionian Sea
  HR: "IT", // Italian is official in Istria
  HU: "AT", // land border
  IM: "GB", // English
  IS: "DK", // Danish is taught in every school
  JE: "GB", // English
  LI: "AT", // German, and Austria is next door
  LT: "PL", // land border
  LU: "FR", // French is the language of law and work
  LV: "PL", // the nearest by land
  MC: "FR", // French
  MD: "IT", // Romanian is nearest to Italian
  ME: "IT", // across the Adriatic
  MK: "IT", // across the Adriatic, through Albania
  MT: "GB", // English is official
  NO: "SE", // Norwegians read and understand Swedish
  RO: "IT", // Romanian is nearest to Italian
  RS: "AT", // Austria is the nearest by land
  RU: "PL", // the land border at Kaliningrad
  SI: "IT", // Italian is official on the coast
  SJ: "SE", // as Norway
  SK: "CZ", // Slovaks read and understand Czech
  SM: "IT", // Italian
  UA: "PL", // land border
  VA: "IT", // Italian
  XK: "IT", // across the Adriatic, through Albania
};

/**
 * The region for visitors from a country (ISO 3166-1 alpha-2, as `request.cf.country` gives it; also "T1" for Tor
 * and "XX" or undefined where it is not known). Outside Europe, and where nothing is known, it is GB.
 */
export function regionForCountry(country: string | undefined): string {
  if (country === undefined) return defaultRegion;
  if (regionCodes.includes(country)) return country;
  return (Object.hasOwn(regionByCountry, country) && regionByCountry[country]) || defaultRegion;
}
