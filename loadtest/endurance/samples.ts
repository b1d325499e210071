import { readdirSync, readFileSync, statSync } from "node:fs";

/** What is measured of the processes and files every few seconds. */
export type Sample = {
  second: number;
  originMegabytes: number;
  edgeMegabytes: number;
  originHandles: number;
  edgeHandles: number;
  databaseMegabytes: number;
  walMegabytes: number;
};

type Sources = { second: number; originPids: number[]; edgePids: number[]; databasePath: string };

const kilobyte = 1024;
const megabyte = kilobyte ** 2;

/** Reads /proc, and the sizes of the database's files. */
export function takeSample({ second, originPids, edgePids, databasePath }: Sources): Sample {
  return {
    second,
    originMegabytes: sum(originPids.map(residentMegabytes)),
    edgeMegabytes: sum(edgePids.map(residentMegabytes)),
    originHandles: sum(originPids.map(openHandles)),
    edgeHandles: sum(edgePids.map(openHandles)),
    databaseMegabytes: sizeOf(databasePath) / megabyte,
    walMegabytes: sizeOf(`${databasePath}-wal`) / megabyte,
  };
}

/** A process and all that it has started, and that they have. */
export function withDescendants(pid: number): number[] {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(withDescendants)];
}

export function commandOf(pid: number): string {
  return readIfThere(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readIfThere(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes) / kilobyte;
}

function openHandles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0; // it has ended
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // the process has ended
  }
}
