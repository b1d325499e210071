import { regionsPath } from "@trendvault/contract/paths";
import { regions } from "@trendvault/contract/regions";
import type { RegionList } from "@trendvault/contract/responses";
import type { Generation } from "../database/generation.ts";
import type { ListedChoices } from "../database/listed-choices.ts";
import { jsonBody } from "./body.ts";
import { fixedContent, type Resource } from "./resource.ts";
import { formatTime, formatTimeOrNull } from "./time-text.ts";

type ChoiceReader = { choicesOf(generation: Generation): ListedChoices };

/** The regions, how many videos each has and how fresh they are. */
export function regionsResource(reader: ChoiceReader): Resource {
  return {
    url: regionsPath,
    route: "regions",
    read(generation) {
      const list = describe(generation, reader.choicesOf(generation));
      return fixedContent(jsonBody(JSON.stringify(list)));
    },
  };
}

function describe(generation: Generation, choices: ListedChoices): RegionList {
  return {
    generation: generation.id,
    oldest_generation: generation.oldestId,
    generated_at: formatTime(generation.publishedAt),
    categories: [...choices.categories].sort(),
    regions: regions.map(({ code, name, languages }) => {
      const known = generation.regions.get(code);
      return {
        code,
        name,
        languages,
        language_lists: [...choices.languagesIn(code)].sort(),
        video_count: known?.videoCount ?? 0,
        newest_observed_at: formatTimeOrNull(known?.newestObservedAt ?? null),
        generation: known?.id ?? null,
        oldest_generation: known?.oldestId ?? null,
        generated_at: formatTimeOrNull(known?.publishedAt ?? null),
      };
    }),
  };
}
