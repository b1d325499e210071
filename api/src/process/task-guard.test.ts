import { expect, test } from "bun:test";
import { TaskGuard } from "./task-guard.ts";

test("a task that throws is logged once, and is the reason until it succeeds", () => {
  const logged: unknown[] = [];
  const guard = new TaskGuard((_level, event, _message, facts) => logged.push([event, facts?.task]));
  const fail = () => {
    throw new Error("too many open files");
  };
  guard.run("measure memory", fail);
  guard.run("measure memory", fail);
  expect(logged).toEqual([["task_failed", "measure memory"]]);
  expect(guard.reason).toBe("Cannot measure memory: too many open files");
  guard.run("measure memory", () => {});
  expect(guard.reason).toBeNull();
});

test("a log that cannot be written does not end it", () => {
  const fail = () => {
    throw new Error("no");
  };
  const guard = new TaskGuard(fail);
  guard.run("report", fail);
  expect(guard.reason).toBe("Cannot report: no");
});
