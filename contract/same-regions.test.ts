import { afterEach, expect, test } from "bun:test";
import { requireSameRegions } from "./regions.ts";

const servers: Bun.Server<undefined>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

/** An edge that has some regions, in front of an origin that has some, and is not ready at first. */
function edge({ own, published, notReady = 0 }: { own: string; published: string[]; notReady?: number }) {
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      if (asked++ < notReady) return new Response("{}", { status: 503 });
      const { pathname, search } = new URL(url);
      if (pathname === "/api/regions") return Response.json({ regions: published.map((code) => ({ code })) });
      if (pathname + search !== "/api/trending?region=none") return new Response("{}", { status: 404 });
      const invalid = [{ name: "region", detail: `expected one of ${own}` }];
      return Response.json({ invalid }, { status: 400 });
    },
  });
  servers.push(server);
  return { url: server.url.href, asked: () => asked };
}

test("an edge with the regions that are published is right, also when its origin was busy at first", async () => {
  const { url } = edge({ own: "US, CA", published: ["US", "CA"], notReady: 5 });
  expect(await requireSameRegions(url, { pauseMs: 1 })).toBe("US, CA");
});

test("an edge with others, or in another order, is refused with both", async () => {
  for (const own of ["US", "US, CA, JP", "CA, US"]) {
    const { url } = edge({ own, published: ["US", "CA"] });
    await expect(requireSameRegions(url)).rejects.toThrow(
      `The edge was built for the regions ${own}, and those at ${url}api/regions are US, CA.`,
    );
  }
});

test("an edge that never becomes ready is asked a bounded number of times", async () => {
  const { url, asked } = edge({ own: "US", published: ["US"], notReady: 1e9 });
  const asking = requireSameRegions(url, { attempts: 4, pauseMs: 1 });
  await expect(asking).rejects.toThrow("answered with status 503");
  expect(asked()).toBeWithin(4, 9); // of both that are asked for, one is over first
});

test("what is asked for in vain ends with its signal", async () => {
  const { url } = edge({ own: "US", published: ["US"], notReady: 1e9 });
  const stop = new AbortController();
  const asking = requireSameRegions(url, { signal: stop.signal });
  stop.abort();
  await expect(asking).rejects.toThrow();
});
