/** What stands for the id of a video in VIDEO_URL. */
export const idPlace = "{id}";

const longest = 1800; // characters: an id has 64, escaped 192, and a link at most 2000

/** Whether a text can be VIDEO_URL: an https URL without user, with `{id}` once, in its path, query or fragment. */
export function isVideoUrlTemplate(text: string): boolean {
  if (text.length > longest || !/^https:\/\/[!-~]+$/.test(text)) return false;
  if (text.split(idPlace).length !== 2) return false;
  const [first, second] = ["a", "b"].map((id) => URL.parse(text.replace(idPlace, id)));
  return first?.host !== undefined && first.host === second?.host && first.username + first.password === "";
}
