import { Part, type PartPlan } from "./part.ts";

export type Watch = {
  /** Ends the stack. */
  signal: AbortSignal;
  /** Runs beside the parts once all of them answer, and ends when its signal aborts. */
  whenReady: (stopped: AbortSignal) => Promise<void>;
};

/**
 * Starts the parts in their order, each when the one before it answers, and stops them in the reverse order.
 * Resolves with null when the signal aborted, or with a sentence that says which part died and why.
 */
export async function runStack(
  plans: readonly PartPlan[],
  { signal, whenReady }: Watch,
): Promise<string | null> {
  const end = Promise.withResolvers<string | null>();
  const stopped = new AbortController();
  end.promise.then(() => stopped.abort());
  if (signal.aborted) end.resolve(null);
  signal.addEventListener("abort", () => end.resolve(null), { once: true });

  const parts: Part[] = [];
  const startAll = async (): Promise<boolean> => {
    for (const plan of plans) {
      const part = new Part(plan);
      parts.push(part);
      part.died().then(end.resolve);
      const answered = await Promise.race([part.ready(stopped.signal), end.promise.then(() => false)]);
      // Where it has ended already, its reason stands.
      if (!answered) end.resolve(`The ${plan.name} did not answer at ${plan.readyUrl} in time.`);
      if (!answered) return false;
    }
    return true;
  };
  if (await startAll()) await whenReady(stopped.signal);
  const reason = await end.promise;
  for (const part of parts.toReversed()) await part.stop();
  return reason;
}
