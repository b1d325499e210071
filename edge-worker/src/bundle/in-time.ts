import { nullAfter } from "../cache/single-flight.ts";

/** What the bucket gives until a time. @throws Error when it takes longer, and what the read throws */
export async function inTime<T>(end: number, read: Promise<T>): Promise<T> {
  const result = await nullAfter(
    end,
    read.then((value) => ({ value })),
  );
  if (result === null) throw new Error("the bucket did not answer in time");
  return result.value;
}

/** The end of so many seconds from now, in Unix milliseconds. */
export function endOf(seconds: number): number {
  return Date.now() + seconds * 1000;
}
