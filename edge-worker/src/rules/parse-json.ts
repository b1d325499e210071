/** The value of a JSON text, or null when it is not JSON. Nothing about its shape is known. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
