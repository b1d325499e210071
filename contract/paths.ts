/** The paths that are the same for every list and video. */
export const paths = {
  trending: "/api/trending",
  regions: "/api/regions",
  about: "/api/about",
  openapi: "/openapi.json",
  publicKeys: "/.well-known/jwks.json", // RFC 8615, RFC 7517

  // What people look at: the page of a list, the same for frames of other sites and what says how to frame it, how lists are made, the reference of the API, and what browsers load for it.
  page: "/",
  embed: "/embed",
  oembed: "/oembed",
  aboutPage: "/about",
  docs: "/docs",
  serviceWorker: "/service-worker.js",
  icon: "/favicon.ico",

  // What search engines ask for (RFC 9309, sitemaps.org).
  robots: "/robots.txt",
  sitemap: "/sitemap.xml",

  // The paths that only the edge answers: what browsers tell, and what the writer pulls of it.
  views: "/api/views",
  viewMinutes: "/api/views/minutes",
  viewShards: "/api/views/shards",
} as const;

/** The parameters of the page. Sites and mail programs add others to links, which may name who got them. */
export const pageParameters: readonly string[] = [
  "region",
  "window",
  "category",
  "audience",
  "live",
  "duration",
  "lang",
  "cursor",
];

/** Where a video is watched: by https, or on this machine alone, where the demo is. */
export const videoAddress = /^https:\/\/.|^http:\/\/127\.0\.0\.1(:\d+)?\//;

const assetPrefix = "/assets/";

/** Whether a path is one of an asset, which has its hash in its name. */
export function isAssetPath(path: string): boolean {
  return path.startsWith(assetPrefix) && /^[\w-]{1,60}\.(css|js|svg)$/.test(path.slice(assetPrefix.length));
}

const videoPrefix = "/api/videos/";
const explanationSuffix = "/explain";

/** The canonical path of a video; an id needs no escaping in it. */
export function videoPath(id: string): string {
  return videoPrefix + id;
}

/**
 * The id of the video that a path names, or null when it names none. A client may have escaped what needs no escaping,
 * as encodeURIComponent does with a colon (RFC 3986, section 6.2.2.2).
 */
export function videoIdAt(path: string): string | null {
  if (!path.startsWith(videoPrefix)) return null;
  const id = decode(path.slice(videoPrefix.length));
  return id !== null && isVideoId(id) ? id : null;
}

/** The canonical path of the explanation of a video's place. */
export function explanationPath(id: string): string {
  return videoPath(id) + explanationSuffix;
}

/** The id of the video whose explanation a path names, or null when it names none. */
export function explainedIdAt(path: string): string | null {
  return path.endsWith(explanationSuffix) ? videoIdAt(path.slice(0, -explanationSuffix.length)) : null;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null; // a URIError: not percent-encoded UTF-8
  }
}

/**
 * The ids that the writer accepts (writer/src/Observations/ObservationParser.php): 1 to 64 characters that need no
 * escaping in a path (RFC 3986, section 3.3), the first a letter, a digit, `_` or `-`.
 */
export const videoIdPattern = /^[A-Za-z0-9_-][A-Za-z0-9_.~:-]{0,63}$/;

function isVideoId(text: string): boolean {
  return videoIdPattern.test(text);
}
