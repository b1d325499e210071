/** What the attributes of the element say. */
export type ListAttributes = {
  /** The address of the edge or the origin; "" is the page's own site. */
  src: string;
  /** The path and query of the list's first page. */
  path: string;
  /** Hosts (with their port, when it is not the scheme's) whose pictures are shown; null: those that the server names. */
  thumbHosts: string[] | null;
  /** The server's own host. */
  ownHost: string;
};

const parameters = ["region", "window", "category", "language", "fields", "limit"];
const defaults: Record<string, string> = { fields: "chart", limit: "10" };

export const observedAttributes = [...parameters, "lang", "src", "thumb-hosts", "verify"];

/** `read` gives an attribute; `pageUrl` is the page's address, `defaultSrc` that of the element's own script, if known. */
export function readAttributes(
  read: (name: string) => string | null,
  { pageUrl, defaultSrc }: { pageUrl: string; defaultSrc: string },
): ListAttributes {
  const src = (read("src") ?? defaultSrc).replace(/\/+$/, "");
  const query = new URLSearchParams();
  for (const name of parameters) {
    const value = read(name) ?? defaults[name] ?? "";
    if (value !== "") query.append(name, value);
  }
  const thumbHosts =
    read("thumb-hosts")
      ?.split(/[\s,]+/)
      .filter(Boolean) ?? null;
  const ownHost = new URL(src || pageUrl, pageUrl).host;
  return { src, path: `/api/trending?${query}`, thumbHosts, ownHost };
}
