import { regionCodes } from "./regions.ts";

/** Limits of counting, for the edge, which leaves the schemas of its answers out of its bundle. */

/** The largest number of shards that a region may have; a shard's name is `GB-0` to `GB-63`. */
export const mostShards = 64;
export const shardPattern = new RegExp(`^(${regionCodes.join("|")})-([0-9]|[1-5][0-9]|6[0-3])$`);

/** Closed minutes are kept for so long. They are deleted within an hour after it. */
export const keptHours = 48;

/** Rows that an answer has at most, unless its first minute alone has more. */
export const pullRows = { default: 1000, most: 10_000 } as const;
