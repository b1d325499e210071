import type { BundleFacts } from "@trendvault/contract/bundle-file";
import { useRegions } from "@trendvault/contract/regions";
import { tokenMinute } from "@trendvault/contract/token";
import { assembleAnswers } from "../answers.ts";
import { DatabaseUnusable } from "../database/errors.ts";
import { GenerationWatcher } from "../database/generation-watcher.ts";
import { formatTime } from "../resources/time-text.ts";
import type { Settings } from "../settings.ts";
import { type Block, packBlocks } from "./block-packer.ts";
import { DocumentRenderer } from "./document-renderer.ts";
import { SharedLists } from "./shared-lists.ts";
import { bundledLimits, type Share, walk } from "./walk.ts";

/** What is rendered: the newest generation of a database, as it is answered at `now` (Unix time in milliseconds). */
export type RenderInput = { settings: Settings; now: number };

/** A generation that is being rendered, whole or a share of it. */
export type Rendering = {
  facts: BundleFacts;
  blocks(share: Share): Generator<Block>;
  close(): void;
};

/** Reads a generation as an origin does before it serves it. @throws Error that says what to do */
export async function openRendering({ settings, now }: RenderInput): Promise<Rendering> {
  useRegions(settings.regions);
  const watcher = new GenerationWatcher(settings.databasePath);
  const generation = watcher.poll(now);
  if (generation === null)
    throw new DatabaseUnusable(`Cannot render ${settings.databasePath}: nothing was published yet`);
  const lists = new SharedLists(watcher);
  const { findRoute, builder } = await assembleAnswers(settings, {
    lists,
    clock: () => now,
    onBuilt: () => {},
  });
  for (const _ of lists.load(generation));
  watcher.read((store) => store.expectManyExplanations());
  const inventory = {
    regions: generation.regions,
    choices: lists.choicesOf(generation),
    videos: watcher.read((store) => generation.rankings.flatMap(({ id }) => store.readListedVideos(id))),
  };
  const snapshot = { generation, minute: tokenMinute(now) };
  const renderer = new DocumentRenderer({ findRoute, builder, snapshot });
  return {
    facts: {
      generation: generation.id,
      generated_at: formatTime(generation.publishedAt),
      signed_at: Math.floor(now / 1000),
      limits: bundledLimits,
      regions: [...generation.regions.keys()],
    },
    blocks: (share) => packBlocks(walk(renderer, inventory, share)),
    close: () => watcher.close(),
  };
}
