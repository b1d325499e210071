import { serveControl } from "./control.ts";
import { missingServer } from "./s3-server.ts";
import { TestStore } from "./test-store.ts";

// A test store for tests in other languages than TypeScript; tests/README.md says what it prints and takes. Ends with its
// standard input. Exit code 77 where there is no S3 server, with the reason on standard error.

const missing = missingServer();
if (missing !== null) {
  console.error(missing);
  process.exit(77);
}
const store = await TestStore.start();
const control = await serveControl(store);
console.log(JSON.stringify({ ...store.settings, address: store.address, control }));
for await (const _ of process.stdin);
await store.remove();
process.exit(0);
