import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { processorSeconds, workerdProcesses } from "./processor-time.ts";
import { startTestStack, type TestStack } from "./test-stack.ts";

const visits = 20_000;
const largest = 500; // microseconds

describe("processor time in workerd", () => {
  let stack: TestStack;
  let pids: number[]; // workerd runs twice: our Worker, and what stands in front of it locally
  before(async () => {
    const others = workerdProcesses();
    stack = await startTestStack();
    pids = workerdProcesses().filter((pid) => !others.includes(pid));
  });
  after(() => stack.close());

  test("of a hit is well below a millisecond, the visitor's own included", async (context) => {
    const visit = (requests: number) => stack.edge.busy({ ...swiss, requests });
    await visit(2000); // until the code is warm
    const before = processorSeconds(pids);
    const { wrong, handled } = await visit(visits);
    const microseconds = ((processorSeconds(pids) - before) / visits) * 1e6;
    context.diagnostic(`${microseconds.toFixed(0)} µs`);
    assert.deepEqual({ wrong, handled }, { wrong: 0, handled: { "trendvault; hit": visits } });
    assert.ok(microseconds < largest, `${microseconds} µs`);
  });
});

const swiss = {
  atOnce: 50,
  visitors: [{ country: "CH", region: "DE", share: 1 }],
  windows: [{ window: "day", share: 1 }],
};
