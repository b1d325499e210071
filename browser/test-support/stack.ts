import { after } from "node:test";
import { startTestStack, type TestStack } from "../../edge-worker/test/test-stack.ts";
import { closeBrowser } from "./launch.ts";

let started: Promise<TestStack> | undefined;

/** The real writer's database, the real origin and the edge in workerd, started once for all tests of this process. */
export function sharedStack(): Promise<TestStack> {
  started ??= startTestStack();
  return started;
}

// All files run in one process: this is after the last of them.
after(async () => {
  await closeBrowser();
  await (await started)?.close();
});
