import { createHash } from "node:crypto";

/** Serves the pictures of the demo's videos, drawn when they are asked for, and the page that stands for each. */
export function serveDemoSite(hostname: string, port: number) {
  return Bun.serve({ hostname, port, fetch: ({ url }) => answer(new URL(url).pathname) });
}

// For /<category>/<id>/hq.webp: the API adds these names to the address of every video, whoever has its pictures.
const address = /^\/([a-z-]+)\/([\w-]{1,64})\/(hq|sd)\.webp$/;

function answer(path: string): Response {
  const [, category = "", id = "", name = ""] = address.exec(path) ?? [];
  const picture = drawPicture(category, { id, width: pictureWidths[name] ?? 0 });
  if (/^\/watch\/[\w-]{1,64}$/.test(path)) return respond(watchPage, "text/html; charset=utf-8");
  return picture === null ? new Response(null, { status: 404 }) : respond(picture, "image/svg+xml");
}

function respond(body: string, type: string): Response {
  return new Response(body, {
    headers: {
      "content-type": type,
      "cache-control": "public, max-age=86400",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    },
  });
}

const watchPage = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>A video of the demo</title><style>:root{color-scheme:light dark;font:1.1em/1.5 system-ui}body{max-width:40em;margin:15vh auto;padding:1em}</style><h1>Your video would play here</h1><p>The demo's videos are made up. Your own open where your view counts say (<code>url</code>), or where <code>VIDEO_URL</code> does.`;

/** The widths of a video's two pictures, by name. */
const pictureWidths: Record<string, number> = { hq: 640, sd: 320 };

/**
 * The picture of a demo video, as SVG, 16:9: the drawing and colours of its category (as it is in the address: music,
 * news-politics), varied by its id. Null for a category that the demo does not have.
 */
export function drawPicture(category: string, { id, width }: { id: string; width: number }): string | null {
  const number = Object.keys(drawings).indexOf(category);
  if (number < 0) return null;
  const drawing = drawings[category] ?? "";
  // Numbers from 0 to below 256, the same for the same id.
  const [turn = 0, across = 0, down = 0, size = 0, tilt = 0, sunAcross = 0, sunDown = 0, sunSize = 0] =
    createHash("sha256").update(id).digest();
  const hue = 24 * number + Math.round(turn / 16) - 8;
  const colours: Record<string, string> = {
    light: `hsl(${hue + 20} 80% 91%)`,
    dark: `hsl(${hue - 10} 55% 17%)`,
    accent: `hsl(${hue + 150 + tilt / 4} 85% 66%)`,
  };
  const place = `translate(${160 + (across - 128) / 3} ${90 + (down - 128) / 8}) rotate(${(tilt - 128) / 10}) scale(${(turn % 2 ? -1 : 1) * (0.8 + size / 500)} ${0.8 + size / 500})`;
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${(width * 9) / 16}" viewBox="0 0 320 180">
<defs><linearGradient id="sky" x1="0" y1="0" x2="${sunSize / 256}" y2="1">
<stop offset="0" stop-color="hsl(${hue} 62% ${44 + down / 20}%)"/><stop offset="1" stop-color="hsl(${hue + 34} 58% ${24 + size / 20}%)"/>
</linearGradient></defs><rect width="320" height="180" fill="url(#sky)"/>
<circle cx="${sunAcross * 1.25}" cy="${sunDown * 0.7}" r="${20 + sunSize / 5}" fill="${colours.light}" opacity=".25"/>
<g transform="${place}" stroke-linecap="round">${drawing.replace(/light|dark|accent/g, (name) => colours[name] ?? "")}</g></svg>
`;
  return picture.replace(/\d+\.\d{3,}/g, (number) => Number(number).toFixed(2));
}

/** By category, each with a hue of its own: a drawing around 0, 0, of some 160 × 140. */
const drawings: Record<string, string> = {
  "autos-vehicles":
    '<path d="M-90 20v-24l28-8 22-28h70l30 30 30 8v22z" fill="light"/><path d="M-34-16l14-16h22v16zm46 0v-16h14l18 16z" fill="dark"/><g fill="dark" stroke="accent" stroke-width="7"><circle cx="-48" cy="22" r="17"/><circle cx="48" cy="22" r="17"/></g>',
  comedy:
    '<circle r="62" fill="light"/><path d="M-34 10q34 54 68 0z" fill="accent"/><g stroke="dark" stroke-width="7" fill="none"><path d="M-36-14q12-18 24 0M12-14q12-18 24 0M-34 10q34 54 68 0z"/></g>',
  education:
    '<path d="M-84 56h168" stroke="dark" stroke-width="8"/><path d="M-70-40h24v92h-24zM12-28h20v80H12z" fill="light"/><path d="M-42-54h28v106h-28zM36-8l22-10 30 64-22 10z" fill="accent"/><path d="M-10-18H8v70h-18z" fill="dark"/>',
  entertainment:
    '<g stroke="light" stroke-width="9" opacity=".4"><path d="M0-86V86M-86 0H86M-62-62L62 62M62-62L-62 62"/></g><path d="M0-64l15 43h46L24 6l14 44L0 23l-38 27 14-44-37-27h46z" fill="accent"/>',
  "film-animation":
    '<path d="M-70-24h140v78H-70z" fill="light"/><path d="M-72-30l136-34 6 24-136 34z" fill="dark"/><path d="M-44-37l22 18 24-6-22-18zm46-12l22 18 24-6-22-18z" fill="light"/><path d="M-16-6v44l40-22z" fill="accent"/>',
  "food-drink":
    '<circle r="62" fill="light"/><circle r="44" fill="none" stroke="dark" stroke-width="3" opacity=".4"/><g fill="accent"><circle cx="-16" cy="-8" r="15"/><circle cx="16" cy="14" r="19"/></g><circle cx="12" cy="-20" r="10" fill="dark"/><path d="M-86-54V54M86-54V54M86-54q-18 30 0 52" stroke="light" stroke-width="9" fill="none"/>',
  gaming:
    '<path d="M-50-34H50c36 0 46 82 18 82-20 0-24-26-44-26h-48c-20 0-24 26-44 26-28 0-18-82 18-82z" fill="light"/><path d="M-46-20v32m-16-16h32" stroke="dark" stroke-width="9"/><circle cx="52" cy="6" r="8" fill="dark"/><circle cx="36" cy="-12" r="8" fill="accent"/>',
  "howto-style":
    '<path d="M-60 60L20-20" stroke="light" stroke-width="18"/><path d="M8-58q-6 52 50 50l18-20-30-4-4-30 20-16q-44-14-54 20z" fill="light"/><path d="M60 60L-34-34" stroke="accent" stroke-width="14"/><path d="M-26-42l-14 14-22-10-6-22 22 4z" fill="dark"/>',
  music:
    '<path d="M-30 44V-40l78-18v84" fill="none" stroke="light" stroke-width="10"/><path d="M-30-22l78-18" stroke="light" stroke-width="12"/><ellipse cx="-48" cy="46" rx="22" ry="16" fill="accent"/><ellipse cx="30" cy="28" rx="22" ry="16" fill="accent"/>',
  "news-politics":
    '<g fill="none" stroke="light" stroke-width="5"><circle r="62"/><ellipse rx="26" ry="62"/><path d="M-62 0H62M-54-32H54M-54 32H54"/></g><path d="M14 14h76v16H14zm0 26h54v10H14z" fill="accent"/>',
  "people-blogs":
    '<path d="M-92 70c0-56 22-70 46-70S0 14 0 70z" fill="light"/><circle cx="-46" cy="-32" r="27" fill="light"/><path d="M-6 70c0-56 22-70 46-70s46 14 46 70z" fill="accent"/><circle cx="40" cy="-32" r="27" fill="accent"/>',
  "pets-animals":
    '<path d="M-56-70l34 26h44l34-26v76q0 56-56 56t-56-56z" fill="light"/><g fill="dark"><ellipse cx="-24" cy="0" rx="7" ry="11"/><ellipse cx="24" cy="0" rx="7" ry="11"/><path d="M-9 22H9L0 32z"/></g><path d="M-20 30l-52-6m52 14l-50 8M20 30l52-6M20 38l50 8" stroke="accent" stroke-width="4"/>',
  "science-technology":
    '<g fill="none" stroke="light" stroke-width="5"><ellipse rx="84" ry="28"/><ellipse rx="84" ry="28" transform="rotate(60)"/><ellipse rx="84" ry="28" transform="rotate(120)"/></g><circle r="18" fill="accent"/><g fill="accent"><circle cx="84" r="9"/><circle cx="-42" cy="-73" r="9"/><circle cx="-42" cy="73" r="9"/></g>',
  sports:
    '<circle r="62" fill="light"/><path d="M0-24l23 17-9 27h-28l-9-27z" fill="dark"/><path d="M0-24v-36M23-7l34-12M14 20l22 30M-14 20l-22 30M-23-7l-34-12" stroke="dark" stroke-width="6"/><path d="M-80 66H80" stroke="accent" stroke-width="8"/>',
  "travel-events":
    '<path d="M-130 70L-50-40 20 70z" fill="dark"/><path d="M-50 70L30-66 130 70z" fill="light"/><path d="M30-66L8-28l16 10 10-10 14 14 10-10z" fill="accent"/>',
};
