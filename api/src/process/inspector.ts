import { Inspector } from "../database/inspector.ts";
import type { InspectorMessage } from "./messages.ts";

const intervalMs = 1000;
const budgetMs = 4; // of reading with every look, and at most a list more

/** Looks at the database once a second and tells the supervisor; ends with it. */
export function runInspector(path: string): void {
  process.on("disconnect", () => process.exit(0));
  process.on("SIGHUP", () => {}); // for the supervisor; a terminal sends it to all
  const inspector = new Inspector(path);
  const look = () => process.send?.(inspector.inspect(budgetMs) satisfies InspectorMessage);
  look();
  setInterval(look, intervalMs);
}
