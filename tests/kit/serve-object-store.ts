import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type FaultRule, missingServer, TestStore } from "./object-store.ts";

// A store for tests in other languages: prints one line of JSON (its settings, `address`, `control`) and runs until its
// standard input ends. `control` takes the requests below. Exit code 77: there is no S3 server here.

type Verb = (store: TestStore, body: string) => unknown;

/** What each request does; its answer is JSON. */
const verbs: Record<string, Verb> = {
  "POST /faults": ({ proxy }, body) => proxy.rules.add(JSON.parse(body) as FaultRule),
  "DELETE /faults": ({ proxy }) => proxy.rules.clear(),
  "GET /exchanges": ({ proxy }) => proxy.exchanges,
  "POST /kill": ({ server }) => server.kill(),
  "POST /start": ({ server }) => server.start(),
};

/** Lets another program tell the store what to do, over HTTP. Resolves with the address. */
async function serveControl(store: TestStore): Promise<string> {
  const server = createServer(async (request, response) => {
    const verb = verbs[`${request.method} ${request.url}`];
    try {
      const result = verb === undefined ? null : await verb(store, await textOf(request));
      response.writeHead(verb === undefined ? 404 : 200).end(JSON.stringify(result ?? null));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function textOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await request.toArray()).toString();
}

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
