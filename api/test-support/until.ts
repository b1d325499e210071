const timeoutMs = 240_000; // only a fault takes so long, however busy the machine is

/** Waits for something outside of this process that gives no event. @throws Error after four minutes */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`Timeout after four minutes, waiting for: ${condition}`);
    await Bun.sleep(10);
  }
}
