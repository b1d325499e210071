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
