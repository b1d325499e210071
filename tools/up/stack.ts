import { Service, type ServiceSpec } from "./service.ts";

export type StackOptions = {
  /** Ends the stack. */
  signal: AbortSignal;
  /** Runs beside the services once all of them answer, and ends when its signal aborts. */
  whenReady: (stopped: AbortSignal) => Promise<void>;
};

/**
 * Starts the services in their order, each when the one before it answers, and stops them in the reverse order.
 * Resolves with null when the signal aborted, or with a sentence that says which service ended and why. They are stopped,
 * too, when `whenReady` throws.
 */
export async function runStack(
  specs: readonly ServiceSpec[],
  { signal, whenReady }: StackOptions,
): Promise<string | null> {
  const end = Promise.withResolvers<string | null>();
  const stopped = new AbortController();
  end.promise.then(() => stopped.abort());
  if (signal.aborted) end.resolve(null);
  signal.addEventListener("abort", () => end.resolve(null), { once: true });

  const services: Service[] = [];
  const startAll = async (): Promise<boolean> => {
    for (const spec of specs) {
      const service = new Service(spec);
      services.push(service);
      service.exited().then(end.resolve);
      const ready = service.ready({ signal: stopped.signal });
      const answered = await Promise.race([ready, end.promise.then(() => false)]);
      // Has no effect when the service has exited: the first reason counts.
      if (!answered) end.resolve(`The ${spec.name} did not answer at ${spec.readyUrl} in 5 minutes.`);
      if (!answered) return false;
    }
    return true;
  };
  try {
    if (await startAll()) await whenReady(stopped.signal);
    return await end.promise;
  } finally {
    for (const service of services.toReversed()) await service.stop();
  }
}
