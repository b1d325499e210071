/**
 * A Request that records what is read of it: its members by name, its header fields one by one. Only `headers.get` gives
 * the values of header fields; anything else finds none, also native code that looks behind a Proxy (Bun.inspect).
 */
export function recordReads(request: Request): { request: Request; reads: Set<string> } {
  const reads = new Set<string>();
  const headers = record(new Headers(), {
    read: (name) => reads.add(`headers.${name}`),
    members: {
      get: (field: string) => {
        reads.add(`headers.get(${field.toLowerCase()})`);
        return request.headers.get(field);
      },
    },
  });
  const bare = new Request(request.url, { method: request.method });
  return { request: record(bare, { read: (name) => reads.add(name), members: { headers } }), reads };
}

/** A stand-in for an object, some of whose members are replaced. `read` is called for the names of all others, too. */
function record<T extends object>(
  target: T,
  { read, members }: { read: (name: string) => void; members: Record<string, unknown> },
): T {
  return new Proxy(target, {
    get(_, key) {
      const name = String(key);
      const replaced = members[name];
      if (typeof replaced === "function") return replaced; // records its calls itself
      read(name);
      const value = replaced ?? Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    has(_, key) {
      read(`${String(key)} in`);
      return Reflect.has(target, key);
    },
    ownKeys() {
      read("all keys");
      return Reflect.ownKeys(target);
    },
  });
}
