import { examples } from "@trendvault/contract/examples";
import type { List, ListItem, ListOptions } from "../src/view/list-view.ts";
import { allMessages } from "../src/view/locales/all.ts";
import { formatsOf } from "../src/view/locales/locale.ts";

const [example] = examples.trendingPage.items;
if (example === undefined) throw new Error("The example of a list has no item");

/** An item with some of it replaced. */
export function itemWith(replaced: Partial<ListItem> = {}): ListItem {
  const sparkline = Array.from({ length: 24 }, (_, hour) => (hour % 7 === 3 ? null : hour * hour));
  return {
    ...(example as ListItem),
    previous_rank: 4,
    url: "https://videos.example/1",
    sparkline,
    ...replaced,
  };
}

export function listOf(items: ListItem[], replaced: Partial<List> = {}): List {
  const { region, window } = examples.trendingPage;
  return {
    region,
    window,
    score_unit: "views",
    previous_generated_at: "2026-11-21T09:00:00Z",
    items,
    ...replaced,
  };
}

export const optionsInEnglish: ListOptions = {
  messages: allMessages.en,
  formats: formatsOf("en"),
  thumbHosts: ["img.example"],
};
