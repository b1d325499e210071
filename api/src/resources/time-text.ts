/** RFC 3339 in UTC, whole seconds, from Unix seconds. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

export function formatTimeOrNull(seconds: number | null): string | null {
  return seconds === null ? null : formatTime(seconds);
}
