import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { regionCodes } from "@trendvault/contract/regions";

const writer = join(import.meta.dirname, "../../writer/bin/writer");
const videosPerRegion = 40;

export type TestDatabase = {
  path: string;
  /** Publishes another generation. */
  publish: () => void;
  /** Takes a video down. */
  takeDown: (id: string) => void;
  remove: () => void;
};

/**
 * A small database filled by the real writer: every region has other videos, and a first generation is published,
 * dated so many seconds ago.
 */
export function makeDatabase(secondsAgo = 0): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), "trendvault-edge-"));
  const path = join(folder, "trendvault.db");
  const run = (words: string[], input = "") =>
    execFileSync(writer, [...words, "--db", path], { input, stdio: ["pipe", "ignore", "pipe"] });
  run(["migrate"]);
  run(["ingest", "-"], observations());
  run(["rank", "--at", formatTime(Date.now() - secondsAgo * 1000)]);
  return {
    path,
    publish: () => run(["rank"]),
    takeDown: (id) => run(["remove", id]),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function observations(): string {
  const hour = 3_600_000;
  const times = [2 * hour, hour, 0].map((ago) => Date.now() - ago);
  const lines = times.flatMap((time, hours) =>
    regionCodes.flatMap((region) =>
      Array.from({ length: videosPerRegion }, (_, n) => JSON.stringify(observe({ region, n, time, hours }))),
    ),
  );
  return `${lines.join("\n")}\n`;
}

function observe({ region, n, time, hours }: { region: string; n: number; time: number; hours: number }) {
  const id = `${region.toLowerCase()}-${n}`;
  return {
    id,
    region,
    observed_at: formatTime(time),
    views: 1000 + hours * 500 * (n + 1),
    title: `Video ${n} of ${region}`,
    channel: `Channel ${n} of ${region}`,
    thumb_base: `https://thumbs.example/${id}`,
    category: n % 2 === 0 ? "Music" : "Kids' TV",
  };
}

function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
