/**
 * A path that an answer names, if it is one of the server that gave it: added to the server's address, any other text
 * could name another server ("@other.example", "//other.example"). @throws TypeError when it is not
 */
export function ownPath(path: string): string {
  if (/^\/(?![/\\])[!-~]*$/.test(path)) return path;
  throw new TypeError("Cannot follow an address of another server");
}
