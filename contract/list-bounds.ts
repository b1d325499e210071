export const windows = ["now", "day", "week"] as const;
export type Window = (typeof windows)[number];

/** How far ahead each list looks. A test compares it with the writer's. */
export const windowHours: Record<Window, number> = { now: 6, day: 24, week: 168 };

export const defaultLimit = 24;
export const largestLimit = 50;

/** The ranks of the longest list, and of the longest one of a category. A test compares them with the writer's. */
export const longestList = { all: 500, category: 100 } as const;
