/** What JSON says, or null when it is none. Nothing about its shape is known. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
