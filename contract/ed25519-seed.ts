/** The private key of a seed of 32 bytes as PKCS #8 (RFC 8410, section 7), which WebCrypto imports. */
export function pkcs8OfSeed(seed: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...prefix, ...seed]);
}

// As numbers: Node.js has no Uint8Array.fromHex() before 25.
const prefix = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
