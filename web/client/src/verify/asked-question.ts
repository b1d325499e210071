import { defaultLimit } from "@trendvault/contract/lists";

const defaults = new Map([
  ["window", "day"],
  ["limit", String(defaultLimit)],
]);

/**
 * Whether the signed Content-Location, which is the canonical address of an answer, is that of what was asked. Without a
 * region in the question, that of the answer is the visitor's and may be any.
 */
export function isAnswerTo(url: string, contentLocation: string): boolean {
  const asked = new URL(url);
  const answered = new URL(contentLocation, asked.origin);
  if (answered.origin !== asked.origin || !isSamePath(asked.pathname, answered.pathname)) return false;
  const expected = withoutDefaults(asked.searchParams);
  const given = withoutDefaults(answered.searchParams);
  if (!expected.has("region")) given.delete("region");
  return expected.size === given.size && [...expected].every(([name, value]) => given.get(name) === value);
}

/** An edge below a path of another site has a prefix of its own, and a client may have escaped a colon. */
function isSamePath(asked: string, answered: string): boolean {
  return decodeURI(asked).replaceAll("%3A", ":").endsWith(answered);
}

function withoutDefaults(parameters: URLSearchParams): Map<string, string> {
  const pairs = [...parameters].map(([name, value]): [string, string] => [
    name,
    name === "region" ? value.toUpperCase() : value,
  ]);
  return new Map(pairs.filter(([name, value]) => defaults.get(name) !== value));
}
