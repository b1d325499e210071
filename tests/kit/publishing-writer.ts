import { DatabaseBuilder, videos } from "./database.ts";

// In place of the writer: publishes, prunes and checkpoints in a process of its own until it is killed.
// Every generation has its own titles, so that a test can see a list that is mixed from two of them.
const [path = "", pause = "0"] = process.argv.slice(2);
const builder = new DatabaseBuilder(path);
for (;;) {
  const last = builder.database
    .query<{ id: number }, []>("SELECT ifnull(max(id), 0) AS id FROM generations")
    .get();
  const next = (last?.id ?? 0) + 1;
  const titled = videos(60).map((video) => ({ ...video, title: `g${next} title`, channel: `g${next}` }));
  builder.publish(["GB", "DE", "FR"].map((region) => ({ region, videos: titled })));
  if (next > 3) builder.prune(next - 3);
  builder.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  await Bun.sleep(Number(pause));
}
