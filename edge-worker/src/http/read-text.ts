/** The body as text: null when it is not UTF-8, "too-large" when it has more bytes; of that, the rest is not read. */
export async function readText(
  { headers, body }: Request,
  largest: number,
): Promise<string | "too-large" | null> {
  if (Number(headers.get("content-length") ?? 0) > largest) return "too-large";
  const bytes = new Uint8Array(largest);
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) break;
    if (length + value.length > largest) {
      await reader?.cancel();
      return "too-large";
    }
    bytes.set(value, length);
    length += value.length;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes.subarray(0, length));
  } catch {
    return null; // the only thing it throws is a TypeError about the bytes
  }
}
