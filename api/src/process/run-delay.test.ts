import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { until } from "../../test-support/until.ts";
import { schedulingDelayMs } from "./worker-pool.ts";

const spin = [process.execPath, "-e", "for (;;);"];
const isCounted = schedulingDelayMs(process.pid) > 0;

test.skipIf(!isCounted)(
  "of more busy processes than processors one waits, and a stopped one does not (where the system counts it)",
  async () => {
    const children = Array.from({ length: availableParallelism() + 1 }, () => Bun.spawn(spin));
    try {
      await until(() => children.some(({ pid }) => schedulingDelayMs(pid) > 50));
      const [waiting = 0, other = 0] = children
        .map(({ pid }) => pid)
        .sort((a, b) => schedulingDelayMs(b) - schedulingDelayMs(a));
      process.kill(waiting, "SIGSTOP");
      const isStopped = async () => / T /.test(await Bun.file(`/proc/${waiting}/stat`).text());
      await until(isStopped);
      const [before, computed] = [schedulingDelayMs(waiting), cpuTimeMs(other)];
      await until(() => cpuTimeMs(other) > computed + 300);
      expect(schedulingDelayMs(waiting)).toBe(before);
    } finally {
      for (const child of children) child.kill("SIGKILL");
    }
  },
);

test("a process that is gone did not wait", () => {
  expect(schedulingDelayMs(2 ** 30)).toBe(0);
});

/** What the main thread of a process has computed: the first field. */
function cpuTimeMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}
