import { drawPicture, pictureWidths } from "./picture.ts";

/** `host` is what browsers are to be allowed to load pictures from; `thumbBase` is what the videos' pictures are below. */
export type DemoSite = { host: string; thumbBase: string; stop: () => Promise<void> };

// For /<category>/<id>/hq.webp: the API adds these names to the address of every video, whoever has its pictures.
const address = /^\/([a-z-]+)\/([\w-]{1,64})\/(hq|sd)\.webp$/;

/** The address of the demo's pictures on a port. */
export function demoSiteAt(hostname: string, port: number): Omit<DemoSite, "stop"> {
  return { host: `${hostname}:${port}`, thumbBase: `http://${hostname}:${port}` };
}

/** Serves the pictures of the demo's videos, drawn when they are asked for. */
export function serveDemoSite(hostname: string, port: number): DemoSite {
  const server = Bun.serve({ hostname, port, fetch: ({ url }) => answer(new URL(url).pathname) });
  return { ...demoSiteAt(hostname, server.port ?? port), stop: () => server.stop(true) };
}

function answer(path: string): Response {
  const [, category = "", id = "", name = ""] = address.exec(path) ?? [];
  const picture = drawPicture(category, { id, width: pictureWidths[name] ?? 0 });
  if (picture === null) return new Response(null, { status: 404 });
  return new Response(picture, {
    headers: {
      "content-type": "image/svg+xml",
      "cache-control": "public, max-age=86400",
      "content-security-policy": "default-src 'none'",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    },
  });
}
