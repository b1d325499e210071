/** Where the edge says what went wrong. Nothing about a visitor goes in. */
export type Report = (event: { event: string } & Record<string, unknown>) => void;

/** Makes a cache's failure an absence: the edge goes on without that cache, and says so. */
export function absentOnFailure<T>(reading: Promise<T>, event: string, report: Report): Promise<T | null> {
  return reading.catch((error) => {
    report({ event, error: String(error) });
    return null;
  });
}
