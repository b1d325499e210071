import type { Logger } from "../log.ts";

/**
 * Runs what timers call. A task that throws does not end the process: the failure is logged, once until it changes,
 * and is the reason why the process is degraded until the task succeeds again.
 */
export class TaskGuard {
  readonly #log: Logger;
  readonly #reasons = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The reason of the task that failed first, or null. */
  get reason(): string | null {
    return this.#reasons.values().next().value ?? null;
  }

  /** `task` is a verb with its object: "measure memory". */
  run(task: string, action: () => void): void {
    try {
      action();
      this.#reasons.delete(task);
    } catch (error) {
      this.#fail(task, error as Error);
    }
  }

  #fail(task: string, { message, stack = message }: Error): void {
    const reason = `Cannot ${task}: ${message}`;
    if (this.#reasons.get(task) === reason) return;
    this.#reasons.set(task, reason);
    try {
      this.#log("error", "task_failed", "A periodic task failed; it is tried again.", { task, error: stack });
    } catch {
      // The reason is in the report.
    }
  }
}
