import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { regionCodes } from "@trendvault/contract/regions";
import { newFolder, writerProgram } from "@trendvault/kit/machine";

export type TestDatabase = {
  path: string;
  /** Publishes another generation. */
  publish: () => void;
  /** Takes a video down. */
  takeDown: (id: string) => void;
  /** Says until when a video of a region may be shown, in Unix seconds. */
  end: (id: string, region: string, until: number) => void;
  remove: () => void;
};

type Contents = {
  regions?: readonly string[];
  categories?: readonly [string, string];
  videosPerRegion?: number;
  /** The regions of a deployment that has its own. */
  regionsFile?: string;
};

/**
 * A small database filled by the real writer: every region has other videos, and a first generation is published,
 * dated so many seconds ago. With other regions than all it is one of several writers'.
 */
export function makeDatabase(secondsAgo = 0, contents: Contents = {}): TestDatabase {
  const { regions, regionsFile } = contents;
  const folder = newFolder("edge");
  const path = join(folder, "trendvault.db");
  const settings = regionsFile === undefined ? { REGIONS: regions?.join() } : { REGIONS_FILE: regionsFile };
  const env = { ...process.env, ...settings };
  const run = (words: string[], input = "") =>
    execFileSync(writerProgram, [...words, "--db", path], { env, input, stdio: ["pipe", "ignore", "pipe"] });
  run(["migrate"]);
  run(["ingest", "-"], observations(contents));
  run(["rank", "--at", formatTime(Date.now() - secondsAgo * 1000)]);
  return {
    path,
    publish: () => run(["rank"]),
    takeDown: (id) => run(["remove", id]),
    end: (id, region, until) => {
      const line = { id, regions: [region], available_until: formatTime(until * 1000) };
      run(["ingest", "-"], `${JSON.stringify(line)}\n`);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function observations({
  regions = regionCodes,
  categories = ["Music", "Kids' TV"],
  videosPerRegion = 40,
}: Contents): string {
  const hour = 3_600_000;
  const times = [2 * hour, hour, 0].map((ago) => Date.now() - ago);
  const lines = times.flatMap((time, hours) =>
    regions.flatMap((region) =>
      Array.from({ length: videosPerRegion }, (_, n) => {
        const category = categories[n % 2];
        const language = n % 4 === 3 ? "en" : "de-AT"; // of which ten are too few for a list
        return JSON.stringify({ ...observe({ region, n, time, hours }), category, language });
      }),
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
  };
}

function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
