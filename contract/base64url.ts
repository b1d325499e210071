// Uint8Array has its own methods in Bun, workerd, new browsers and Node.js from 25 on. What the package @trendvault/client
// is made of runs in older ones, too.

/** Base64 with padding (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  return "toBase64" in bytes ? bytes.toBase64() : btoa(String.fromCharCode(...(bytes as Uint8Array)));
}

/** Base64url without padding (RFC 4648, section 5). */
export function toBase64url(bytes: Uint8Array): string {
  if ("toBase64" in bytes) return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes of base64url text, or null when it is something else. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    if ("fromBase64" in Uint8Array) return Uint8Array.fromBase64(text, { alphabet: "base64url" });
    if (/[+/]/.test(text)) return null;
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return (Uint8Array as Uint8ArrayConstructor).from(binary, (byte) => byte.charCodeAt(0));
  } catch {
    return null; // the only thing it throws is a SyntaxError (a DOMException of atob) about the text
  }
}
