/**
 * The network that an address is counted under in rate limiting: an IPv4 address itself, and of an IPv6 address its
 * first 64 bits, because one subscriber has all of them to choose from.
 */
export function rateLimitKey(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::"); // "::" is as many zero groups as are missing from 8
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<string>(missing).fill("0"), ...after].slice(0, 4).join(":");
}
