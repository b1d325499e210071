import { createBrush } from "./brush.ts";
import { motifs } from "./motifs.ts";

/** The widths of a video's two pictures, by name. */
export const pictureWidths: Record<string, number> = { hq: 640, sd: 320 };

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
