import assert from "node:assert/strict";
import { startTestStack } from "../test/test-stack.ts";
import { counting, readList } from "../test/view-messages.ts";
import { processorSeconds, workerdProcesses } from "./workerd-processes.ts";

// Prints, as JSON, the processor time in workerd of one message about a list, for messages that come alone and for so many
// at once: they are added to the shard in one call. Of all that runs in workerd: the client, the Worker and the shard.
//   node edge-worker/bench/message-cost.ts [CALLS]

const calls = Number(process.argv[2] ?? 300);
assert.ok(Number.isInteger(calls) && calls > 0, "expected a number of calls, like 300");
const warmupCalls = 100;

const stack = await startTestStack({ ...counting, VIEWS_BATCH_SECONDS: "0" });
try {
  const pids = workerdProcesses();
  const { token } = await readList(stack.edge, "/api/trending?region=GB");
  for (const concurrency of [1, 10, 100]) {
    await sendMessages(warmupCalls, concurrency);
    const [before, beganAt] = [processorSeconds(pids), performance.now()];
    await sendMessages(calls, concurrency);
    const messages = calls * concurrency;
    const microseconds = ((processorSeconds(pids) - before) / messages) * 1e6;
    const seconds = (performance.now() - beganAt) / 1000;
    const facts = { messages, processor_microseconds_per_message: Math.round(microseconds) };
    const perSecond = Math.round(messages / seconds);
    console.log(JSON.stringify({ messages_per_call: concurrency, ...facts, messages_per_second: perSecond }));
  }

  async function sendMessages(callCount: number, concurrency: number): Promise<void> {
    const requests = callCount * concurrency;
    const result = await stack.edge.runTraffic({ requests, concurrency, token, clients: [], windows: [] });
    assert.equal(result.wrong, 0);
  }
} finally {
  await stack.close();
}
