import { createOpenapiDocument } from "./openapi-document.ts";

// Run after a change of the schemas: bun run openapi
await Bun.write(`${import.meta.dir}/openapi.json`, `${JSON.stringify(createOpenapiDocument(), null, 2)}\n`);
