export type Target = { path: string; search: string };

/**
 * Splits a request's URL into path and query. Not with `new URL`: Bun gives a relative URL when Host is empty
 * or invalid, and that throws (Bun PR 33721).
 */
export function splitTarget(url: string): Target {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const target = start === -1 ? "/" : url.slice(start);
  const mark = target.indexOf("?");
  return mark === -1
    ? { path: target, search: "" }
    : { path: target.slice(0, mark), search: target.slice(mark + 1) };
}

/** The characters of path and query together, with the "?" between them. */
export function targetLength({ path, search }: Target): number {
  return path.length + (search === "" ? 0 : 1 + search.length);
}
