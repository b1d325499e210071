import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** The processes named workerd that this process has started. */
export function workerdProcesses(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = readStat(pid);
      return stat?.name === "workerd" && stat.parent === process.pid;
    });
}

/** Seconds of processor time that processes have used, in user and system mode. */
export function processorSeconds(pids: readonly number[]): number {
  return pids.reduce((ticks, pid) => ticks + (readStat(pid)?.ticks ?? 0), 0) / ticksPerSecond;
}

// proc_pid_stat(5): pid (name) state ppid … with utime and stime as fields 14 and 15.
function readStat(pid: number): { name: string; parent: number; ticks: number } | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null; // it has ended
  }
  const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? [];
  const fields = rest.split(" ").map(Number);
  return { name, parent: fields[1] ?? 0, ticks: (fields[11] ?? 0) + (fields[12] ?? 0) };
}
