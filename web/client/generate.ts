import { join } from "node:path";
import { generateClient } from "./generated-client.ts";

await generateClient(join(import.meta.dir, "generated"));
