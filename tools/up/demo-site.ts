/** `host` is what browsers are to be allowed to load pictures from; `thumbBase` is what the videos' pictures are below. */
export type DemoSite = { host: string; thumbBase: string; stop: () => Promise<void> };

/** The address of the demo's pictures on a port. */
export function demoSiteAt(hostname: string, port: number): Omit<DemoSite, "stop"> {
  return { host: `${hostname}:${port}`, thumbBase: `http://${hostname}:${port}` };
}

/** Serves the pictures of the demo's videos, drawn when they are asked for. */
export function serveDemoSite(hostname: string, port: number): DemoSite {
  const server = Bun.serve({ hostname, port, fetch: ({ url }) => answer(new URL(url).pathname) });
  return { ...demoSiteAt(hostname, server.port ?? port), stop: () => server.stop(true) };
}

// For /<category>/<id>/hq.webp: the API adds these names to the address of every video, whoever has its pictures.
const address = /^\/([a-z-]+)\/([\w-]{1,64})\/(hq|sd)\.webp$/;

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

/** The widths of a video's two pictures, by name. */
const pictureWidths: Record<string, number> = { hq: 640, sd: 320 };

const decimals = /\d+\.\d+(?:e-\d+)?/g;

/**
 * The picture of a demo video, as SVG, 16:9: shapes and colours of its category (as it is in the address: music,
 * news-politics), varied by its id. Null for a category that the demo does not have.
 */
export function drawPicture(category: string, { id, width }: { id: string; width: number }): string | null {
  const motif = Object.hasOwn(motifs, category) ? motifs[category] : undefined;
  if (motif === undefined) return null;
  const hue = Math.round(motif.hue + createBrush(`${id} hue`, 0).between(-30, 30));
  const brush = createBrush(id, hue);
  const [top, bottom] = [brush.between(44, 58), brush.between(24, 36)];
  const drawn = motif.draw(brush).replace(decimals, (number) => String(Math.round(Number(number) * 10) / 10));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${(width * 9) / 16}" viewBox="0 0 320 180">
<defs><linearGradient id="sky" x1="0" y1="0" x2="${brush.between(0, 1)}" y2="1">
<stop offset="0" stop-color="hsl(${hue} 62% ${top}%)"/><stop offset="1" stop-color="hsl(${hue + 34} 58% ${bottom}%)"/>
</linearGradient></defs><rect width="320" height="180" fill="url(#sky)"/>${drawn}</svg>
`;
}

type Motif = { hue: number; draw: (brush: Brush) => string };

/** What a category's pictures show, on 320 × 180, as the elements of an SVG; and the hue they are around, in degrees. */
const motifs: Record<string, Motif> = {
  "autos-vehicles": { hue: 14, draw: road },
  comedy: { hue: 42, draw: bubbles },
  education: { hue: 268, draw: books },
  entertainment: { hue: 334, draw: rays },
  "film-animation": { hue: 350, draw: beam },
  "food-drink": { hue: 24, draw: plate },
  gaming: { hue: 282, draw: sprite },
  "howto-style": { hue: 188, draw: tiles },
  music: { hue: 226, draw: equalizer },
  "news-politics": { hue: 208, draw: globe },
  "people-blogs": { hue: 312, draw: people },
  "pets-animals": { hue: 164, draw: cat },
  "science-technology": { hue: 244, draw: orbits },
  sports: { hue: 136, draw: pitch },
  "travel-events": { hue: 200, draw: hills },
};

function road({ light, dark, accent, between }: Brush): string {
  const [horizon, vanishing] = [between(70, 100), between(110, 210)];
  const dashes = [0.12, 0.3, 0.58].map((near) => {
    const y = horizon + (180 - horizon) * near;
    const [width, height] = [14 * near, (180 - horizon) * near * 0.45];
    return `<rect x="${vanishing + (160 - vanishing) * near - width / 2}" y="${y}" width="${width}" height="${height}" fill="${light}"/>`;
  });
  return `<circle cx="${between(40, 280)}" cy="${horizon}" r="${between(22, 44)}" fill="${accent}"/>
<path d="M0 ${horizon}h320V180H0z" fill="${dark}" opacity=".55"/>
<path d="M${vanishing} ${horizon}L290 180H30z" fill="${dark}"/>${dashes.join("")}`;
}

function bubbles({ light, accent, dark, between, times }: Brush): string {
  const bubble = (index: number) => {
    const [x, y] = [24 + index * 88 + between(-14, 14), between(20, 90)];
    const [width, height] = [between(74, 100), between(42, 60)];
    const eyes = [0.36, 0.64].map(
      (part) => `<circle cx="${x + width * part}" cy="${y + height * 0.38}" r="4" fill="${dark}"/>`,
    );
    return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="20" fill="${index === 1 ? accent : light}"/>
<path d="M${x + 18} ${y + height - 6}l-6 24 26-20z" fill="${index === 1 ? accent : light}"/>${eyes.join("")}
<path d="M${x + width * 0.34} ${y + height * 0.6}q${width * 0.16} 14 ${width * 0.32} 0" fill="none" stroke="${dark}" stroke-width="4" stroke-linecap="round"/>`;
  };
  return times(3, bubble);
}

function books({ light, accent, dark, between, pick }: Brush): string {
  let drawn = "";
  for (let x = between(14, 40); x < 286; ) {
    const [width, height] = [between(14, 30), between(60, 116)];
    const colour = pick([light, accent, dark]);
    drawn += `<rect x="${x}" y="${150 - height}" width="${width}" height="${height}" rx="2" fill="${colour}"/>
<rect x="${x}" y="${162 - height}" width="${width}" height="5" fill="${colour === dark ? light : dark}" opacity=".5"/>`;
    x += width + (between(0, 1) < 0.2 ? 16 : 3);
  }
  return `${drawn}<rect y="150" width="320" height="8" fill="${dark}"/>`;
}

function rays({ light, accent, between, times }: Brush): string {
  const [x, y, count] = [between(110, 210), between(80, 110), 2 * Math.round(between(7, 11))];
  const ray = (index: number) => {
    const [from, to] = [index, index + 0.5].map((part) => (part / count) * 2 * Math.PI);
    const point = (angle = 0) => `${x + 400 * Math.cos(angle)} ${y + 400 * Math.sin(angle)}`;
    return `<path d="M${x} ${y}L${point(from)}L${point(to)}z" fill="${light}" opacity=".22"/>`;
  };
  const star = Array.from({ length: 10 }, (_, index) => {
    const [radius, angle] = [index % 2 === 0 ? 52 : 23, (index / 10) * 2 * Math.PI - Math.PI / 2];
    return `${x + radius * Math.cos(angle)},${y + radius * Math.sin(angle)}`;
  });
  return `${times(count, ray)}<polygon points="${star.join(" ")}" fill="${accent}"/>`;
}

function beam({ light, accent, dark, between, times }: Brush): string {
  const [x, y] = [between(150, 250), between(70, 110)];
  const hole = (index: number) =>
    `<rect x="${8 + index * 32}" y="7" width="16" height="10" rx="2" fill="${light}"/>
<rect x="${8 + index * 32}" y="163" width="16" height="10" rx="2" fill="${light}"/>`;
  return `<path d="M-10 30L${x - 46} ${y + 46}L${x + 46} ${y - 46}z" fill="${light}" opacity=".25"/>
<circle cx="${x}" cy="${y}" r="60" fill="${accent}" opacity=".85"/>
<path d="M${x - 18} ${y - 28}v56l46 -28z" fill="${light}"/>
<rect width="320" height="24" fill="${dark}"/><rect y="156" width="320" height="24" fill="${dark}"/>${times(10, hole)}`;
}

function plate({ light, accent, dark, between, times }: Brush): string {
  const x = between(126, 194);
  const slice = (index: number) => {
    const [angle, distance] = [between(0, 6.28), between(8, 32)];
    const [cx, cy] = [x + distance * Math.cos(angle), 90 + distance * Math.sin(angle)];
    return `<circle cx="${cx}" cy="${cy}" r="${between(7, 17)}" fill="${index % 2 ? accent : dark}" opacity=".85"/>`;
  };
  return `<circle cx="${x}" cy="90" r="76" fill="${light}"/>
<circle cx="${x}" cy="90" r="56" fill="none" stroke="${dark}" stroke-width="2" opacity=".35"/>${times(7, slice)}
<path d="M${x - 104} 40v100M${x + 104} 40v100" stroke="${light}" stroke-width="9" stroke-linecap="round"/>
<ellipse cx="${x + 104}" cy="46" rx="11" ry="18" fill="${light}"/>`;
}

/** A figure of squares, the same on both sides. */
function sprite({ light, accent, dark, between, times }: Brush): string {
  const cell = 16;
  const row = (y: number) =>
    times(4, (column) => {
      if (between(0, 1) < 0.42) return "";
      const colour = between(0, 1) < 0.3 ? accent : light;
      const square = (x: number) =>
        `<rect x="${x}" y="${26 + y * cell}" width="${cell}" height="${cell}" fill="${colour}"/>`;
      return square(160 - (column + 1) * cell) + square(160 + column * cell);
    });
  const line = (index: number) => `<path d="M0 ${index * 9}h320" stroke="${dark}" opacity=".18"/>`;
  return times(20, line) + times(8, row);
}

function tiles({ light, accent, dark, pick, times }: Brush): string {
  const size = 45;
  const corners = [
    (x: number, y: number) => `M${x} ${y}h${size}a${size} ${size} 0 0 1 -${size} ${size}z`,
    (x: number, y: number) => `M${x + size} ${y}v${size}a${size} ${size} 0 0 1 -${size} -${size}z`,
    (x: number, y: number) => `M${x + size} ${y + size}h-${size}a${size} ${size} 0 0 1 ${size} -${size}z`,
    (x: number, y: number) => `M${x} ${y + size}v-${size}a${size} ${size} 0 0 1 ${size} ${size}z`,
  ];
  return times(32, (index) => {
    const corner = pick(corners)((index % 8) * size - 20, Math.floor(index / 8) * size);
    return `<path d="${corner}" fill="${pick([light, accent, dark])}"/>`;
  });
}

function equalizer({ light, accent, between, times }: Brush): string {
  const [count, bend] = [Math.round(between(13, 21)), between(0.5, 1.6)];
  const step = 288 / count;
  return times(count, (index) => {
    const swell = 0.35 + 0.65 * Math.abs(Math.sin((index / count) * Math.PI * bend));
    const height = between(30, 130) * swell + 12;
    return `<rect x="${16 + index * step}" y="${90 - height / 2}" width="${step * 0.62}" height="${height}" rx="${step * 0.31}" fill="${index % 4 === 1 ? accent : light}"/>`;
  });
}

function globe({ light, accent, between, times }: Brush): string {
  const [x, radius, tilt] = [between(200, 250), between(52, 66), between(-24, 24)];
  const meridian = (index: number) =>
    `<ellipse cx="${x}" cy="90" rx="${(radius * index) / 3}" ry="${radius}" fill="none" stroke="${light}" stroke-width="3"/>`;
  const line = (index: number) =>
    `<rect x="24" y="${40 + index * 24}" width="${between(56, 108)}" height="${index === 0 ? 16 : 9}" rx="4" fill="${index === 0 ? accent : light}" opacity="${index === 0 ? 1 : 0.8}"/>`;
  return `<g transform="rotate(${tilt} ${x} 90)">${times(4, meridian)}
<path d="M${x - radius} 90h${2 * radius}" stroke="${light}" stroke-width="3"/></g>${times(5, line)}`;
}

function people({ light, accent, dark, between, times }: Brush): string {
  const count = between(0, 1) < 0.4 ? 1 : 2;
  return times(count, (index) => {
    const x = count === 1 ? between(130, 190) : 110 + index * 96 + between(-10, 10);
    const [top, colour] = [between(58, 74), index === 0 ? accent : light];
    return `<path d="M${x - 70} 190c0 -62 30 -84 70 -84s70 22 70 84z" fill="${colour}"/>
<circle cx="${x}" cy="${top}" r="34" fill="${colour}" stroke="${dark}" stroke-width="6"/>`;
  });
}

function cat({ light, accent, dark, between }: Brush): string {
  const [x, radius, fur] = [between(120, 200), between(52, 64), between(0, 1) < 0.5 ? light : accent];
  const eye = (side: number) =>
    `<ellipse cx="${x + side * radius * 0.38}" cy="98" rx="7" ry="${between(7, 11)}" fill="${dark}"/>`;
  const ear = (side: number) =>
    `<path d="M${x + side * radius * 0.95} 92l${-side * 6} -74l${-side * radius * 0.72} 34z" fill="${fur}"/>`;
  const whiskers = (side: number) =>
    `<path d="M${x + side * 22} 120l${side * 52} -8m${-side * 52} 16l${side * 52} 6" stroke="${dark}" stroke-width="3" opacity=".6"/>`;
  return `${ear(-1)}${ear(1)}<ellipse cx="${x}" cy="106" rx="${radius}" ry="${radius * 0.86}" fill="${fur}"/>
${eye(-1)}${eye(1)}${whiskers(-1)}${whiskers(1)}<path d="M${x - 8} 114h16l-8 9z" fill="${dark}"/>`;
}

function orbits({ light, accent, between, times }: Brush): string {
  const [x, turn] = [between(130, 190), between(0, 60)];
  const orbit = (index: number) => {
    const angle = between(0, 6.28);
    return `<g transform="rotate(${turn + index * 60} ${x} 90)"><ellipse cx="${x}" cy="90" rx="84" ry="30" fill="none" stroke="${light}" stroke-width="4" opacity=".8"/>
<circle cx="${x + 84 * Math.cos(angle)}" cy="${90 + 30 * Math.sin(angle)}" r="9" fill="${accent}"/></g>`;
  };
  return `${times(3, orbit)}<circle cx="${x}" cy="90" r="${between(14, 24)}" fill="${accent}"/>`;
}

function pitch({ light, dark, accent, between, times }: Brush): string {
  const [x, y] = [between(70, 250), between(50, 130)];
  const stripe = (index: number) =>
    `<rect x="${index * 64}" width="32" height="180" fill="${dark}" opacity=".25"/>`;
  return `${times(5, stripe)}<g fill="none" stroke="${light}" stroke-width="4"><circle cx="160" cy="90" r="42"/>
<path d="M160 0v180M0 40h46v100H0M320 40h-46v100h46"/></g>
<circle cx="${x}" cy="${y}" r="17" fill="${accent}" stroke="${light}" stroke-width="5"/>`;
}

function hills({ light, accent, dark, between, times }: Brush): string {
  const colours = [light, accent, dark];
  const hill = (index: number) => {
    const y = 88 + index * 28;
    const [first, second, end] = [between(-44, 6), between(-34, 26), between(-20, 14)];
    return `<path d="M0 ${y + between(-14, 14)}Q80 ${y + first} 160 ${y}T320 ${y + end + second}V180H0z" fill="${colours[index]}" opacity="${index === 0 ? 0.55 : 0.9}"/>`;
  };
  return `<circle cx="${between(60, 260)}" cy="${between(36, 66)}" r="${between(18, 30)}" fill="${light}"/>${times(3, hill)}`;
}

/** Colours, and choices that follow from what is drawn. */
type Brush = {
  light: string;
  dark: string;
  accent: string;
  /** A number from `least` to below `limit`, with one decimal. */
  between: (least: number, limit: number) => number;
  pick: <T>(choices: readonly T[]) => T;
  /** What a function draws for 0 up to below `count`, one after the other. */
  times: (count: number, draw: (index: number) => string) => string;
};

/** The same for the same seed text. `hue` is in degrees. */
function createBrush(seed: string, hue: number): Brush {
  const next = randomNumbers(seed);
  return {
    light: `hsl(${hue + 20} 80% 91%)`,
    dark: `hsl(${hue - 10} 55% 17%)`,
    accent: `hsl(${hue + 150 + 60 * next()} 85% 66%)`,
    between: (least, limit) => Math.round((least + next() * (limit - least)) * 10) / 10,
    pick: (choices) => choices[Math.floor(next() * choices.length)] as (typeof choices)[number],
    times: (count, draw) => Array.from({ length: count }, (_, index) => draw(index)).join(""),
  };
}

/** Numbers from 0 to below 1: mulberry32, from the FNV-1a hash of the seed. */
function randomNumbers(seed: string): () => number {
  let state = 0x811c9dc5;
  for (const byte of Buffer.from(seed)) state = Math.imul(state ^ byte, 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
