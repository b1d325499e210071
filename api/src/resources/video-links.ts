import { idPlace } from "../video-url-template.ts";

/** Gives where a video is watched: the URL that came with its data, else one made of the setting; null without both. */
export type VideoLinks = (id: string, url: string | null) => string | null;

/** `template` is VIDEO_URL, with `{id}` once; null when it is not set. */
export function videoLinks(template: string | null): VideoLinks {
  if (template === null) return (_, url) => url;
  const [before = "", after = ""] = template.split(idPlace);
  return (id, url) => url ?? before + encodeURIComponent(id) + after;
}
