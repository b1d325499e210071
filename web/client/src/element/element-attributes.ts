import type { ListTrendingData } from "../../generated/types.gen.ts";
import type { TrendvaultListEvents } from "./list-events.ts";

type Query = NonNullable<ListTrendingData["query"]>;

/** The attributes of <trendvault-list>, as frameworks set them. */
export type ElementAttributes = {
  region?: Query["region"];
  window?: Query["window"];
  category?: string;
  /** Of the videos: the primary subtag (BCP 47); not beside `category`. */
  language?: string;
  limit?: number | string;
  fields?: Query["fields"];
  /** A language of ours (BCP 47); else the region's. */
  lang?: string;
  /** The address of the server; else the page's own site. */
  src?: string;
  /** Hosts of pictures that are shown, separated by spaces; else the server's. */
  "thumb-hosts"?: string;
  verify?: boolean | "";
  views?: boolean | "";
  manual?: boolean | "";
};

/** A property for each event: its name after a prefix. */
export type ElementListeners<Prefix extends string> = {
  [Name in keyof TrendvaultListEvents as `${Prefix}${Name}`]?: (
    event: CustomEvent<TrendvaultListEvents[Name]>,
  ) => void;
};
