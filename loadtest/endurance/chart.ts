import type { MinuteOfSite } from "./figures.ts";
import type { Sample } from "./samples.ts";

type Line = { name: string; color: string; points: [second: number, value: number][] };
export type Panel = { title: string; lines: Line[] };
export type Mark = { second: number; name: string };

const width = 960;
const panelHeight = 120;
const gap = 34;
const left = 70;
const top = 44;
const colors = ["#1f6feb", "#d1530f"];

/** The curves of a run, one panel below the other over the same time, with a mark where something happened. */
export function drawChart(
  title: string,
  { panels, marks, seconds }: { panels: Panel[]; marks: Mark[]; seconds: number },
): string {
  const x = (second: number) => left + (second / seconds) * (width - left - 20);
  const height = top + panels.length * (panelHeight + gap) + 20;
  const bodies = panels.map((panel, index) =>
    drawPanel(panel, { x, top: top + index * (panelHeight + gap) + 16, marks }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${left}" y="22" font-size="15">${escapeXml(title)}</text>`,
    ...bodies,
    ...minutesBelow(seconds).map(
      (minute) => `<text x="${x(minute * 60)}" y="${height - 12}" text-anchor="middle">${minute} min</text>`,
    ),
    "</svg>\n",
  ].join("\n");
}

function drawPanel(
  { title, lines }: Panel,
  { x, top, marks }: { x: (second: number) => number; top: number; marks: Mark[] },
): string {
  const most = Math.max(1e-9, ...lines.flatMap(({ points }) => points.map(([, value]) => value)));
  const y = (value: number) => top + panelHeight - (value / most) * panelHeight;
  const drawn = lines.map(({ color, points }) => {
    const path = points.map(([second, value]) => `${x(second).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    return `<polyline fill="none" stroke="${color}" stroke-width="1.5" points="${path}"/>`;
  });
  const legend = lines.map(
    ({ name, color }, index) =>
      `<tspan fill="${color}"${index === 0 ? "" : ' dx="12"'}>${escapeXml(name)}</tspan>`,
  );
  return [
    ...marks.map(
      ({ second, name }) =>
        `<line x1="${x(second).toFixed(1)}" x2="${x(second).toFixed(1)}" y1="${top}" y2="${top + panelHeight}" stroke="#ccc"><title>${escapeXml(name)}</title></line>`,
    ),
    `<line x1="${left}" x2="${width - 20}" y1="${top + panelHeight}" y2="${top + panelHeight}" stroke="#888"/>`,
    `<text x="${left}" y="${top - 5}">${escapeXml(title)}: ${legend.join("")}</text>`,
    `<text x="${left - 6}" y="${top + 10}" text-anchor="end">${most.toPrecision(3)}</text>`,
    `<text x="${left - 6}" y="${top + panelHeight}" text-anchor="end">0</text>`,
    ...drawn,
  ].join("\n");
}

/** Minutes to name on the axis: about ten. */
function minutesBelow(seconds: number): number[] {
  const step = [1, 2, 5, 10, 20, 30, 60, 120, 360].find((minutes) => seconds / 60 / minutes <= 12) ?? 1440;
  return Array.from({ length: Math.floor(seconds / 60 / step) + 1 }, (_, index) => index * step);
}

/** What is drawn of samples and minutes. */
export function panelsOf({ samples, minutes }: { samples: Sample[]; minutes: MinuteOfSite[] }): Panel[] {
  const of = (name: string, color: string, pick: (sample: Sample) => number): Line => ({
    name,
    color,
    points: samples.map((sample) => [sample.second, pick(sample)]),
  });
  const [first = "", second = ""] = colors;
  const times = (site: "edge" | "origin", color: string): Line => ({
    name: site,
    color,
    points: minutes.filter((one) => one.site === site).map(({ minute, p99 }) => [minute * 60 + 30, p99]),
  });
  return [
    {
      title: "Resident memory, MB",
      lines: [
        of("origin", first, (one) => one.originMegabytes),
        of("edge", second, (one) => one.edgeMegabytes),
      ],
    },
    {
      title: "Open handles",
      lines: [of("origin", first, (one) => one.originHandles), of("edge", second, (one) => one.edgeHandles)],
    },
    {
      title: "Database, MB",
      lines: [
        of("file", first, (one) => one.databaseMegabytes),
        of("WAL", second, (one) => one.walMegabytes),
      ],
    },
    { title: "p99 of each minute, ms", lines: [times("origin", first), times("edge", second)] },
  ];
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
