import { choiceOf, kindOf } from "@trendvault/contract/lists";
import { videoPath } from "@trendvault/contract/paths";
import { missing } from "@trendvault/contract/queries";
import type { Video } from "@trendvault/contract/responses";
import type { Generation, VideoRecord } from "../database/store.ts";
import { fixedContent, formatTime, formatTimeOrNull, jsonBody, Refusal, type Resource } from "./resource.ts";
import { marksOf, type PageSources, placementOf, scoreUnitOf, thumbsOf } from "./trending.ts";

type VideoReader = { readVideo(id: string, generation: Generation): VideoRecord | null };

/** One video. */
export function videoResource(
  id: string,
  { reader, linkOf }: { reader: VideoReader; linkOf: PageSources["linkOf"] },
): Resource {
  return {
    url: videoPath(id),
    route: "video",
    read(generation) {
      const record = reader.readVideo(id, generation);
      if (record === null) return unknownVideo();
      const body = jsonBody(JSON.stringify(describe(record, generation, linkOf)));
      const ends = [record.video.available_until, ...record.places.map((place) => place.placed_until)];
      return fixedContent({ ...body, endsAt: Math.min(...ends.map((end) => end ?? Infinity)) });
    },
  };
}

function describe(
  { video, places, observations }: VideoRecord,
  generation: Generation,
  linkOf: PageSources["linkOf"],
): Video {
  const { thumbs, url, countries, made_for_kids, live, details, available_until: _, ...fields } = video;
  return {
    ...fields,
    published_at: formatTimeOrNull(video.published_at),
    thumbs: thumbsOf(thumbs),
    url: linkOf(video.id, url),
    ...marksOf({ countries, made_for_kids }),
    ...(live !== null && { live }),
    ...(details !== null && describeDetails(details)),
    generation: generation.id,
    generated_at: formatTime(generation.publishedAt),
    trending: places.flatMap(describePlace),
    history: [...Map.groupBy(observations, ({ region }) => region)].map(([region, ofRegion]) => ({
      region,
      observations: ofRegion.map(({ observed_at, views }) => ({
        observed_at: formatTime(observed_at),
        views,
      })),
    })),
  };
}

function describeDetails(details: string): Pick<Video, "tags" | "licence" | "titles" | "pictures"> {
  return Object.fromEntries(Object.entries(JSON.parse(details)).filter(([, value]) => value !== null));
}

/** Nothing for a list by kind: whoever does not know those would take it for the one over all categories. */
function describePlace({
  region,
  window,
  category: name,
  look_weight,
  placed,
  placed_until: _,
  ...place
}: VideoRecord["places"][number]): Video["trending"] {
  const choice = choiceOf(name);
  const { category = null } = choice;
  return kindOf(choice) === null
    ? [
        {
          ...{ region, window, category, ...place, score_unit: scoreUnitOf(look_weight) },
          ...placementOf({ placed }),
        },
      ]
    : [];
}

function unknownVideo(): Refusal {
  return new Refusal("not-found", missing.video);
}
