import { join } from "node:path";
import { buildDashboard } from "./dashboard.ts";

await Bun.write(join(import.meta.dir, "trendvault.json"), `${JSON.stringify(buildDashboard(), null, 2)}\n`);
