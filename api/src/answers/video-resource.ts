import type { Video } from "@trendvault/contract/responses";
import { isVideoId } from "@trendvault/contract/video-id";
import type { Generation } from "../database/generation.ts";
import type { VideoRecord } from "../database/video-rows.ts";
import { Refusal } from "../http/refusal.ts";
import { draftText } from "../serving/draft.ts";
import { fixedContent, type Resource } from "./resource.ts";
import { formatTime, formatTimeOrNull } from "./time-text.ts";

export type VideoReader = { readVideo(id: string, generation: number): VideoRecord | null };

/** One video, or a refusal when the path's last part cannot be an id. `part` is still percent-encoded. */
export function videoResource(part: string, reader: VideoReader): Resource | Refusal {
  const id = decode(part);
  if (id === null || !isVideoId(id)) return unknownVideo();
  return {
    url: `/api/videos/${id}`,
    route: "video",
    read(generation) {
      const record = reader.readVideo(id, generation.id);
      if (record === null) return unknownVideo();
      return fixedContent(draftText(JSON.stringify(describe(record, generation)), "application/json"));
    },
  };
}

function describe({ video, places, observations }: VideoRecord, generation: Generation): Video {
  return {
    id: video.id,
    title: video.title,
    channel: video.channel,
    category: video.category,
    language: video.language,
    published_at: formatTimeOrNull(video.published_at),
    duration_seconds: video.duration_seconds,
    thumbs: [`${video.thumb_base}/hq.webp`, `${video.thumb_base}/sd.webp`],
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    trending: places.map((place) => ({ ...place, category: place.category === "" ? null : place.category })),
    history: [...Map.groupBy(observations, ({ region }) => region)].map(([region, ofRegion]) => ({
      region,
      observations: ofRegion.map(({ observed_at, views }) => ({
        observed_at: formatTime(observed_at),
        views,
      })),
    })),
  };
}

function unknownVideo(): Refusal {
  return new Refusal("not-found", "There is no such video.");
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null; // a URIError: not percent-encoded UTF-8
  }
}
