import { keptAddress, offlineCache } from "./offline.ts";

// Keeps the last pages, for when there is no network or no answer. It changes nothing while there is one.

type Lifetime = { waitUntil(work: Promise<unknown>): void };
type Fetched = Lifetime & { request: Request; respondWith(response: Promise<Response>): void };
type Worker = {
  addEventListener(name: "install" | "activate", listener: (event: Lifetime) => void): void;
  addEventListener(name: "fetch", listener: (event: Fetched) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
};

const ownAsset = /^\/assets\/(page|list|chunk|icon)-\w+\.(css|js|svg)$/; // with their hash: what never changes
const mostKept = 60; // pages and assets; the oldest go first
const worker = globalThis as unknown as Worker;

worker.addEventListener("install", (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener("activate", (event) => event.waitUntil(begin()));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (ownAsset.test(pathname)) event.respondWith(answerAsset(event));
  else if (request.mode === "navigate" && ["/", "/about"].includes(pathname))
    event.respondWith(answerPage(event));
});

async function begin(): Promise<void> {
  const earlier = (await caches.keys()).filter(
    (name) => name.startsWith("trendvault-") && name !== offlineCache,
  );
  for (const name of earlier) await caches.delete(name);
  await worker.clients.claim();
}

async function answerAsset(event: Fetched): Promise<Response> {
  return (await kept(event.request)) ?? keep(event, await fetch(event.request));
}

/** From the network; what was kept only when that fails. The page says itself how old it is. */
async function answerPage(event: Fetched): Promise<Response> {
  try {
    const response = await fetch(event.request);
    const stored = response.status < 500 ? undefined : await kept(event.request);
    return stored ?? keep(event, response);
  } catch (error) {
    const stored = await kept(event.request);
    if (stored === undefined) throw error;
    return stored;
  }
}

async function kept(request: Request): Promise<Response | undefined> {
  return (await caches.open(offlineCache)).match(keptAddress(request.url));
}

function keep(event: Fetched, response: Response): Response {
  if (response.status === 200) event.waitUntil(store(event.request, response.clone()));
  return response;
}

async function store(request: Request, response: Response): Promise<void> {
  const cache = await caches.open(offlineCache);
  const address = keptAddress(request.url);
  const body = await response.arrayBuffer(); // before the one that is kept is gone: it may break off
  await cache.delete(address); // so that it is the newest key
  await cache.put(address, new Response(body, response)); // which has no address of its own
  const keys = await cache.keys();
  for (const key of keys.slice(0, Math.max(0, keys.length - mostKept))) await cache.delete(key);
}
