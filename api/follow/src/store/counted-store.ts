import type { Metrics } from "../metrics.ts";
import type { ObjectStore } from "./object-store.ts";

/** A store whose requests and bytes are counted. */
export function countedStore(store: ObjectStore, metrics: Metrics): ObjectStore {
  const labels = { store: store.address };
  return {
    address: store.address,
    async open(name, options) {
      metrics.add("requests_total", labels);
      const opened = await store.open(name, options);
      if (opened === null || opened === "unchanged") return opened;
      return {
        ...opened,
        body: counted(opened.body, (bytes) => metrics.add("received_bytes_total", labels, bytes)),
      };
    },
    list: (beginning) => store.list(beginning),
  };
}

async function* counted(body: AsyncIterable<Uint8Array>, count: (bytes: number) => void) {
  for await (const chunk of body) {
    count(chunk.length);
    yield chunk;
  }
}
