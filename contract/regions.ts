import regionRows from "../db/regions.json" with { type: "json" };

/** The markets in the order of db/regions.json: ISO 3166-1 alpha-2 code, English name, BCP 47 languages. */
export const regions: readonly { code: string; name: string; languages: string[] }[] = regionRows;

export const regionCodes: readonly string[] = regions.map((region) => region.code);

/** The market of whoever does not name one and is not placed by the edge. */
export const defaultRegion = "GB";
