const timeoutMs = 30_000; // long, for machines that are busy with something else

/** Waits for something outside of this process that gives no event. @throws Error after 30 seconds */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Timeout after 30 seconds, waiting for: ${condition}`);
    await Bun.sleep(10);
  }
}
