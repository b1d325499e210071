/**
 * The body as text: null when it is not UTF-8 or ends before its end, "too-large" when it has more bytes; of that, the
 * rest is not read.
 */
export async function readText(
  { headers, body }: Request,
  largest: number,
): Promise<string | "too-large" | null> {
  if (Number(headers.get("content-length") ?? 0) > largest) return "too-large";
  const bytes = new Uint8Array(largest);
  let length = 0;
  const reader = body?.getReader();
  for (;;) {
    const chunk = await reader?.read().catch(() => null); // a client that goes away is no fault of ours
    if (chunk === null) return null;
    if (chunk === undefined || chunk.done) break;
    const { value } = chunk;
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
