/** Whether If-None-Match names an entity tag, or any (RFC 9110, section 13.1.2: weak comparison). */
export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  const opaque = withoutWeakness(etag);
  return ifNoneMatch.split(",").some((listed) => {
    const tag = listed.trim();
    return tag === "*" || withoutWeakness(tag) === opaque;
  });
}

// Cloudflare makes a tag weak where it compresses.
function withoutWeakness(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}
