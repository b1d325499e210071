import assert from "node:assert/strict";
import { startTestStack } from "../test/test-stack.ts";
import { counting } from "../test/view-messages.ts";
import { processorSeconds, workerdProcesses } from "./workerd-processes.ts";

// Prints, as JSON, the processor time in workerd of one cache hit in the deployed bundle, its client included.
// With "counting" as the second word the edge counts views, and with that the lists that it serves.
//   node edge-worker/bench/hit-cost.ts [REQUESTS [counting]]

const requests = Number(process.argv[2] ?? 20_000);
assert.ok(Number.isInteger(requests) && requests > 0, "expected a number of requests, like 20000");
const warmupRequests = 2000; // until the list is cached and the code is warm

const isCounting = process.argv[3] === "counting";
const stack = await startTestStack(isCounting ? counting : {});
try {
  const pids = workerdProcesses(); // workerd runs twice: our Worker, and what is in front of it locally
  await sendHits(warmupRequests);
  const before = processorSeconds(pids);
  await sendHits(requests);
  const microseconds = ((processorSeconds(pids) - before) / requests) * 1e6;
  console.log(JSON.stringify({ requests, processor_microseconds_per_hit: Math.round(microseconds) }));
} finally {
  await stack.close();
}

async function sendHits(count: number): Promise<void> {
  const { wrong } = await stack.edge.runTraffic({
    requests: count,
    concurrency: 50,
    clients: [{ country: "CH", region: "DE", share: 1 }],
    windows: [{ window: "day", share: 1 }],
  });
  assert.equal(wrong, 0);
}
