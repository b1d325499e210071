import { Inspector } from "../database/inspector.ts";
import type { InspectorMessage } from "./messages.ts";

const intervalMs = 1000;
const budgetMs = 2; // of reading with every look
const longestShare = 0.01; // of one core, when a look takes longer

/** Looks at the database once a second and tells the supervisor; ends with it. */
export function runInspector(path: string): void {
  process.on("disconnect", () => process.exit(0));
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const inspector = new Inspector(path);
  const look = () => {
    const started = performance.now();
    const inspection = inspector.inspect(budgetMs);
    process.send?.(inspection satisfies InspectorMessage);
    setTimeout(look, Math.max(intervalMs, (performance.now() - started) / longestShare));
  };
  look();
}
