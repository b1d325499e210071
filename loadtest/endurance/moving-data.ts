/** What the writer ingests: videos whose view counts grow, each in waves of its own, so that lists move all the time. */
export const observedRegions = ["GB", "DE", "FR"] as const;
const videosPerRegion = 60;
const categories = ["Music", "Gaming"] as const;
const hourSeconds = 3600;

/** The lines of one moment (Unix seconds), as docs/observations.md describes them. */
export function linesAt(second: number, since: number): string {
  return observedRegions
    .flatMap((region) =>
      Array.from({ length: videosPerRegion }, (_, index) =>
        JSON.stringify(observe({ region, index, second, since })),
      ),
    )
    .join("\n")
    .concat("\n");
}

type Moment = { region: string; index: number; second: number; since: number };

function observe({ region, index, second, since }: Moment): object {
  const id = `${region.toLowerCase()}-${index}`;
  return {
    id,
    region,
    observed_at: formatTime(second),
    published_at: formatTime(since - hourSeconds),
    views: viewsOf(index, second - since),
    title: `Video ${index} of ${region}`,
    channel: `Channel ${index % 40} of ${region}`,
    category: categories[index % categories.length],
    thumb_base: `https://thumbs.example/${id}`,
  };
}

/** The integral of a rate that swings, with a period between half an hour and three. */
function viewsOf(index: number, age: number): number {
  const perHour = 6000 / (1 + index / 8);
  const period = hourSeconds * (0.5 + (index % 6) / 2);
  const swing = 0.9 * (period / (2 * Math.PI)) * (1 - Math.cos((2 * Math.PI * age) / period));
  return Math.round((perHour / hourSeconds) * (age + swing));
}

/** RFC 3339, in whole seconds. */
export function formatTime(second: number): string {
  return new Date(second * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
