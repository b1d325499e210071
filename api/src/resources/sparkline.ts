import { sparklineHours } from "@trendvault/contract/queries";
import type { ListRow } from "../database/list-page.ts";

const hourSeconds = 3600;

/**
 * The views gained in each of the 24 full hours that end with the latest full hour before `publishedAt` (Unix seconds),
 * oldest first; null where nobody counted. A count that was corrected downwards is a gain of 0.
 */
export function sparklineOf({ hour, hourly_views }: ListRow, publishedAt: number): (number | null)[] {
  const counts: (number | null)[] = hourly_views == null ? [] : JSON.parse(hourly_views);
  const last = counts.length - 1 + Math.floor(publishedAt / hourSeconds) - (hour ?? 0);
  return Array.from({ length: sparklineHours }, (_, index) => {
    const end = last - sparklineHours + 1 + index;
    const [before = null, after = null] = [counts[end - 1], counts[end]];
    return before === null || after === null ? null : Math.max(0, after - before);
  });
}
