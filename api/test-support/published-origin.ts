import { DatabaseBuilder, videos } from "./database-builder.ts";
import { openTestOrigin, type TestOrigin } from "./test-origin.ts";

/** An origin over a database with one generation. */
export type PublishedOrigin = { builder: DatabaseBuilder; origin: TestOrigin };

/** Publishes 30 videos in GB, three in DE's list of the next hours, and two in DE's list of a category. */
export async function openPublishedOrigin(): Promise<PublishedOrigin> {
  const builder = new DatabaseBuilder();
  builder.publish([
    { region: "GB", videos: videos(30) },
    { region: "DE", window: "now", videos: videos(3) },
    { region: "DE", category: "Music", videos: videos(2) },
  ]);
  return { builder, origin: await openTestOrigin(builder.path) };
}

export function closePublishedOrigin({ builder, origin }: PublishedOrigin): void {
  origin.watcher.close();
  builder.remove();
}
