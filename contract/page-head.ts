/**
 * The first two meta elements of a page with a content: when its list was made (RFC 3339; "" for a page without a list),
 * and its Content-Security-Policy. Origin and edge take the header fields of a page from there, where they are signed.
 */
export type PageHead = { generatedAt: string; policy: string };

/** Reads them, or gives null when it is no page of ours. */
export function readPageHead(html: string): PageHead | null {
  const [generatedAt = "", policy] = html
    .slice(0, longestHead)
    .split('content="')
    .slice(1, 3)
    .map((part) => (part.includes('"') ? part.slice(0, part.indexOf('"')) : undefined)); // a part of a policy is none
  return policy === undefined ? null : { generatedAt, policy };
}

const longestHead = 4096; // characters

/** The header fields of a page, beside those of every answer. Only a field can keep others from framing it. */
export function pageFields({ policy }: Pick<PageHead, "policy">): Record<string, string> {
  return {
    "content-security-policy": `${policy}; frame-ancestors 'none'`,
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  };
}
