import { tokenMinute } from "@trendvault/contract/token";
import { assembleAnswers } from "../answers.ts";
import { DatabaseUnusable } from "../database/errors.ts";
import { GenerationWatcher } from "../database/generation-watcher.ts";
import { formatTime } from "../resources/time-text.ts";
import type { Settings } from "../settings.ts";
import { packBlocks } from "./block-packer.ts";
import { BundleFileWriter, type WrittenBundle } from "./bundle-file.ts";
import { DocumentRenderer } from "./document-renderer.ts";
import { SharedLists } from "./shared-lists.ts";
import { bundledLimits, walk } from "./walk.ts";

type RenderOptions = {
  settings: Settings;
  /** The file to write. */
  output: string;
  /** When everything is signed: Unix time in milliseconds. */
  now: number;
  onProgress: (written: { documents: number; bytes: number }) => void;
};

/** What was rendered. */
export type RenderedBundle = WrittenBundle & { generation: number };

/**
 * Writes the bundle of the newest generation of a database. It is written to its place as it is made, and deleted when
 * it cannot be finished. @throws Error that says what to do
 */
export async function renderBundle(options: RenderOptions): Promise<RenderedBundle> {
  const { settings, output, now, onProgress } = options;
  const watcher = new GenerationWatcher(settings.databasePath);
  const generation = watcher.poll(now);
  if (generation === null)
    throw new DatabaseUnusable(`Cannot render ${settings.databasePath}: nothing was published yet`);
  const clock = () => now;
  const lists = new SharedLists(watcher);
  const { findRoute, builder } = await assembleAnswers(settings, { lists, clock, onBuilt: () => {} });
  for (const _ of lists.load(generation));
  const snapshot = { generation, minute: tokenMinute(now) };
  const renderer = new DocumentRenderer({ findRoute, builder, snapshot });
  watcher.read((store) => store.expectManyExplanations());
  const inventory = {
    regions: generation.regions,
    categories: lists.categoriesOf(generation),
    videos: watcher.read((store) => generation.rankings.flatMap(({ id }) => store.readListedVideos(id))),
  };
  const file = new BundleFileWriter(output);
  try {
    for (const block of packBlocks(walk(renderer, inventory, { index: 0, of: 1 }))) {
      file.add(block);
      onProgress(file);
    }
    const facts = {
      generation: generation.id,
      generated_at: formatTime(generation.publishedAt),
      signed_at: Math.floor(now / 1000),
      limits: bundledLimits,
      regions: [...generation.regions.keys()],
    };
    return { generation: generation.id, ...file.finish(facts) };
  } catch (error) {
    file.discard();
    throw error;
  }
}
