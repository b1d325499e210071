import { resolve } from "node:path";
import { missingParts, WatchedSystem } from "../../../tests/ops/test-support/watched-system.ts";
import { drawPicture } from "./draw-picture.ts";
import { live } from "./live.ts";
import { readRows } from "./read-rows.ts";

const target = resolve(import.meta.dir, "../../../docs/dashboard.svg");
const warmUpSeconds = 60; // rates are of a minute

/** Lets a system live for some minutes, and draws docs/dashboard.svg of them. @throws Error when a part cannot be here */
export async function makePicture(minutes: number): Promise<void> {
  const missing = missingParts();
  if (missing !== null) throw new Error(missing);
  const system = await WatchedSystem.start();
  try {
    console.log(`The system runs. The picture is there in ${minutes + 1} minutes.`);
    const began = Date.now() / 1000;
    const marks = await live(system, minutes * 60 + warmUpSeconds);
    const range = { from: began + warmUpSeconds, to: Date.now() / 1000 };
    const words = marks.map(({ at, text }) => `${text} (${Math.round((at - range.from) / 60)} min)`);
    const subtitle = `${minutes} minutes of a writer, a store, a follower, an origin and an edge. ${words.join(". ")}.`;
    const rows = await readRows(system, range);
    await Bun.write(target, drawPicture({ title: "TrendVault", subtitle, marks }, rows, range));
    console.log(`Drawn: ${target}`);
  } finally {
    await system.stop();
  }
}
