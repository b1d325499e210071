import regionRows from "../db/regions.json" with { type: "json" };

/** The regions in the order of db/regions.json: ISO 3166-1 alpha-2 code, English name, BCP 47 languages. */
export const regions: readonly { code: string; name: string; languages: string[] }[] = regionRows;

export const regionCodes: readonly string[] = regions.map((region) => region.code);

/** The region of a request that names none and whose country the edge does not know. */
export const defaultRegion = "GB";
