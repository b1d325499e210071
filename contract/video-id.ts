/**
 * The ids that the writer accepts (writer/src/Observations/ObservationParser.php): 1 to 64 characters that need no
 * escaping in a path (RFC 3986, section 3.3), the first a letter, a digit, `_` or `-`.
 */
export const videoIdPattern = /^[A-Za-z0-9_-][A-Za-z0-9_.~:-]{0,63}$/;

export function isVideoId(text: string): boolean {
  return videoIdPattern.test(text);
}
