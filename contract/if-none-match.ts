/**
 * Whether If-None-Match names an entity tag, or any ("*"). Weak comparison: a tag and the same tag marked W/ are
 * equal (RFC 9110, sections 8.8.3.2 and 13.1.2). A malformed list matches up to its first mistake.
 */
export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  const opaque = etag.startsWith("W/") ? etag.slice(2) : etag;
  for (const [, listed] of ifNoneMatch.matchAll(listedTag)) if (listed === opaque) return true;
  return false;
}

// One element of the list; a comma may be part of a tag.
const listedTag = /[ \t,]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?:,|$)/gy;
