/** Whether If-None-Match names an entity tag, or any (RFC 9110, section 13.1.2: weak comparison). */
export function matchesEntityTag(header: string, etag: string): boolean {
  if (header === etag) return true;
  return header.split(",").some((part) => {
    const tag = part.trim();
    return tag === "*" || tag === etag || tag === `W/${etag}`;
  });
}
