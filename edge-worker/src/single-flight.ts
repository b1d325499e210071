type Flight<T> = { result: Promise<T>; timeoutAt: number };

/** One run of the work per key at a time; calls that come meanwhile share its result. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();
  readonly #timeoutSeconds: number;

  /** `timeoutSeconds`: work that takes longer is abandoned; it should have a shorter timeout of its own. */
  constructor(timeoutSeconds: number) {
    this.#timeoutSeconds = timeoutSeconds;
  }

  isInFlight(key: string): boolean {
    const flight = this.#flights.get(key);
    const longest = this.#timeoutSeconds * 1000;
    return flight !== undefined && isBeforeDeadline(flight.timeoutAt, { now: Date.now(), longest });
  }

  /**
   * Runs the work, or shares a run in flight. The value is null when it took too long: the request that began it
   * may have been cancelled, and then its promise never settles; the next request begins anew. Values must be plain
   * data, because workerd ties a Response to the request that made it. Throws what the work throws.
   */
  async run(key: string, work: () => Promise<T>): Promise<{ value: T | null; shared: boolean }> {
    const shared = this.isInFlight(key);
    const flight = (shared && this.#flights.get(key)) || this.#begin(key, work);
    return { value: await nullAfter(flight.timeoutAt, flight.result), shared };
  }

  #begin(key: string, work: () => Promise<T>): Flight<T> {
    const flight = { result: work(), timeoutAt: Date.now() + this.#timeoutSeconds * 1000 };
    this.#flights.set(key, flight);
    const clear = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    flight.result.then(clear, clear);
    return flight;
  }
}

/** The promise's value, or null once the deadline (Unix milliseconds) has come. */
export async function nullAfter<T>(deadline: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), Math.max(0, deadline - Date.now()));
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** Bounds all work that is passed to it by so many seconds from now. @throws Error when it takes longer */
export function timeLimit(seconds: number): <T>(work: Promise<T>) => Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  return async <T>(work: Promise<T>) => {
    const result = await nullAfter(
      deadline,
      work.then((value) => ({ value })),
    );
    if (result === null) throw new Error("no answer came in time");
    return result.value;
  };
}

/**
 * Whether a deadline is still to come that was set to be at most `longest` ahead. One that is further ahead was set
 * before the clock was set back, and counts as past: else what waits for seconds would wait for as long as the clock was
 * wrong. All are of one unit.
 */
export function isBeforeDeadline(
  deadline: number,
  { now, longest }: { now: number; longest: number },
): boolean {
  const rounding = 1;
  return now < deadline && deadline - now <= longest + rounding;
}
