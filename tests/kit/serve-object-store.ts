import { missingServer, TestStore } from "./object-store.ts";

// A store for tests in other languages: prints one line of JSON (its settings and `address`) and runs until its standard
// input ends. Exit code 77: there is no S3 server here.

const missing = missingServer();
if (missing !== null) {
  console.error(missing);
  process.exit(77);
}
const store = await TestStore.start();
console.log(JSON.stringify({ ...store.settings, address: store.address }));
for await (const _ of process.stdin);
await store.remove();
process.exit(0);
