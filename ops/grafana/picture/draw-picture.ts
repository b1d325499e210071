import { endOfAxis, formatValue } from "./format-value.ts";
import type { DrawnPanel, DrawnRow, Line, TimeRange } from "./read-rows.ts";

/** What is said of a moment above all panels. */
export type Mark = { at: number; text: string };

const panel = { width: 340, height: 188, gap: 12 };
const beside = 4; // as on the dashboard
const margin = 16;
const header = 64;
const rowTitle = 30;
/** Of the curves in a panel. */
const plot = { left: 58, right: 12, top: 30, bottom: 58 };
const legendLines = 2;
const legendCharacters = 50;
const colors = ["#2f7ed8", "#d1530f", "#2e7d4f", "#8a4fb3", "#b9770e", "#c2255c", "#0c8599", "#5c6773"];
const style = `
text { font: 12px system-ui, sans-serif; fill: #24292f } .ground { fill: #f4f5f7 } .panel { fill: #fff; stroke: #d8dde3 }
.title { font-weight: 600; font-size: 13px } .row { font-weight: 600; font-size: 15px } .small { font-size: 10.5px; fill: #59636e }
.axis { stroke: #d8dde3 } .limit { stroke: #d1242f; stroke-dasharray: 5 4 } .mark { stroke: #8c959f; stroke-dasharray: 2 3 }
.none { fill: #8c959f; text-anchor: middle } .right { text-anchor: end } .middle { text-anchor: middle }
polyline { fill: none; stroke-width: 1.5; stroke-linejoin: round }`;

/** The dashboard as an SVG: four panels beside each other, each with its curves, its limit and its legend. */
export function drawPicture(
  { title, subtitle, marks }: { title: string; subtitle: string; marks: readonly Mark[] },
  rows: readonly DrawnRow[],
  range: TimeRange,
): string {
  const width = 2 * margin + beside * panel.width + (beside - 1) * panel.gap;
  const bodies: string[] = [];
  let top = header;
  for (const row of rows) {
    bodies.push(`<text class="row" x="${margin}" y="${top + 20}">${escapeXml(row.title)}</text>`);
    top += rowTitle;
    for (const [index, one] of row.panels.entries()) {
      const x = margin + (index % beside) * (panel.width + panel.gap);
      const y = top + Math.floor(index / beside) * (panel.height + panel.gap);
      bodies.push(`<g transform="translate(${x} ${y})">${drawPanel(one, range, marks)}</g>`);
    }
    top += Math.ceil(row.panels.length / beside) * (panel.height + panel.gap);
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + margin}" role="img" aria-labelledby="t">`,
    `<title id="t">${escapeXml(`${title}. ${subtitle}`)}</title><style>${style}</style>`,
    `<rect class="ground" width="${width}" height="${top + margin}"/>`,
    `<text class="row" x="${margin}" y="28" style="font-size:19px">${escapeXml(title)}</text>`,
    `<text x="${margin}" y="50">${escapeXml(subtitle)}</text>`,
    ...bodies,
    "</svg>\n",
  ].join("\n");
}

function drawPanel(
  { title, unit, limit, max, lines }: DrawnPanel,
  range: TimeRange,
  marks: readonly Mark[],
): string {
  const bottom = panel.height - plot.bottom;
  const seen = Math.max(
    0,
    ...lines.flatMap(({ points }) => points.map(([, value]) => value).filter(Number.isFinite)),
  );
  const most = max ?? endOfAxis(seen > 0 ? seen : (limit ?? 0), unit);
  const x = (at: number) => plot.left + ((at - range.from) / (range.to - range.from)) * plotWidth();
  const y = (value: number) => bottom - (Math.min(value, most) / most) * (bottom - plot.top);
  return [
    `<rect class="panel" width="${panel.width}" height="${panel.height}" rx="3"/>`,
    `<text class="title" x="12" y="20">${escapeXml(title)}</text>`,
    ...[0, most / 2, most].map((value) => drawTick(formatValue(value, unit), y(value))),
    ...minutesOf(range).map(
      ({ at, text }) => `<text class="small middle" x="${round(x(at))}" y="${bottom + 14}">${text}</text>`,
    ),
    ...marks.map(
      ({ at, text }) =>
        `<line class="mark" x1="${round(x(at))}" x2="${round(x(at))}" y1="${plot.top}" y2="${bottom}"><title>${escapeXml(text)}</title></line>`,
    ),
    limit === undefined || limit > most
      ? ""
      : `<line class="limit" x1="${plot.left}" x2="${panel.width - plot.right}" y1="${round(y(limit))}" y2="${round(y(limit))}"/>`,
    ...lines.map(({ points }, index) => drawLine(points, { x, y, color: colorOf(index) })),
    drawLegend(lines, bottom + 31),
  ].join("");
}

function drawTick(text: string, y: number): string {
  return `<line class="axis" x1="${plot.left}" x2="${panel.width - plot.right}" y1="${round(y)}" y2="${round(y)}"/><text class="small right" x="${plot.left - 6}" y="${round(y + 4)}">${text}</text>`;
}

/** Values that Prometheus does not have, such as NaN of nothing divided by nothing, leave a gap. */
function drawLine(
  points: Line["points"],
  { x, y, color }: { x: (at: number) => number; y: (value: number) => number; color: string },
): string {
  const step = Math.min(...points.slice(1).map(([at], index) => at - (points[index]?.[0] ?? at)));
  const parts: [x: string, y: string][][] = [[]];
  let before = Number.NEGATIVE_INFINITY;
  for (const [at, value] of points) {
    if (!Number.isFinite(value)) continue;
    if (at - before > 1.5 * step) parts.push([]);
    parts.at(-1)?.push([round(x(at)), round(y(value))]);
    before = at;
  }
  return parts
    .filter((part) => part.length > 1)
    .map((part) => `<polyline stroke="${color}" points="${part.filter(isCorner).join(" ")}"/>`)
    .join("");
}

/** Whether a point has another height than the one before it or the one behind it: the others are on a level line. */
function isCorner([, y]: [x: string, y: string], index: number, part: [x: string, y: string][]): boolean {
  return y !== part[index - 1]?.[1] || y !== part[index + 1]?.[1];
}

/** The names of the lines, as many as there is room for; how many there are besides. */
function drawLegend(lines: readonly Line[], top: number): string {
  if (lines.length === 0) return `<text class="none" x="${panel.width / 2}" y="${top}">no data</text>`;
  const rows: string[][] = [[]];
  let taken = 0;
  let shown = 0;
  for (const [index, { name }] of lines.entries()) {
    const characters = name.length + 3;
    if (taken + characters > legendCharacters) {
      if (rows.length === legendLines) break;
      rows.push([]);
      taken = 0;
    }
    taken += characters;
    shown++;
    rows.at(-1)?.push(`<tspan fill="${colorOf(index)}">${escapeXml(name)}</tspan>   `);
  }
  const others = lines.length - shown;
  if (others > 0) rows.at(-1)?.push(`and ${others} more`);
  return rows
    .map(
      (row, index) =>
        `<text class="small" xml:space="preserve" x="12" y="${top + index * 15}">${row.join("")}</text>`,
    )
    .join("");
}

/** Times to name below a panel: about five, counted from the beginning. */
function minutesOf({ from, to }: TimeRange): { at: number; text: string }[] {
  const minutes = (to - from) / 60;
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 360].find((one) => minutes / one <= 6) ?? 1440;
  return Array.from({ length: Math.floor(minutes / step) + 1 }, (_, index) => ({
    at: from + index * step * 60,
    text: index === 0 ? "0" : `${index * step} min`,
  }));
}

function plotWidth(): number {
  return panel.width - plot.left - plot.right;
}

function colorOf(index: number): string {
  return colors[index % colors.length] ?? "";
}

function round(value: number): string {
  return value.toFixed(1);
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
