/** Waits for something outside this process that gives no event. Throws after ten seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited ten seconds in vain for: ${condition}`);
    await Bun.sleep(10);
  }
}
