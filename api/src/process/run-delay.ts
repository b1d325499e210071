import { readFileSync } from "node:fs";

/**
 * For how many milliseconds of its life the main thread of a process was ready to run and had no processor, as Linux
 * counts it (second field of https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat): when it gets one,
 * so that a wait that lasts is not in it yet. 0 where the system does not say it, and for a process that is gone.
 */
export function runDelayMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6 || 0;
  } catch {
    return 0; // another system than Linux, or a process that has ended, which its supervisor hears of elsewhere
  }
}
