const assetNames = [
  "pageCss",
  "listCss",
  "pageJs",
  "embedCss",
  "embedJs",
  "icon",
  "docsCss",
  "docsJs",
  "swaggerCss",
  "swaggerJs",
] as const;

/** The paths of the built assets, by what they are; `pageParts` are what the page's script imports at once. */
export type Assets = Record<(typeof assetNames)[number], string> & { pageParts: readonly string[] };

/** Reads what build.ts wrote beside the assets. @throws Error when something of it is missing */
export function readManifest(text: string): Assets {
  const assets = JSON.parse(text) as Assets;
  const missing = assetNames.filter((name) => !assets[name]?.startsWith("/assets/"));
  if (missing.length > 0) throw new Error(`Cannot use a manifest without ${missing.join(", ")}`);
  return { ...assets, pageParts: assets.pageParts ?? [] };
}
