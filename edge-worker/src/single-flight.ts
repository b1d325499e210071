type Flight<T> = { outcome: Promise<T>; overdueAt: number };

/** One piece of work per key at a time; whoever asks meanwhile shares its outcome. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();
  readonly #longestSeconds: number;

  /** `longestSeconds`: what is not done by then is given up; work should have a shorter deadline of its own. */
  constructor(longestSeconds: number) {
    this.#longestSeconds = longestSeconds;
  }

  isUnderWay(key: string): boolean {
    const flight = this.#flights.get(key);
    return flight !== undefined && Date.now() < flight.overdueAt;
  }

  /**
   * Begins the work, or joins it. Null when it took too long: the request that began it may have been cancelled,
   * and then its promise never settles; the next request begins anew. Outcomes must be plain data, because a
   * Response belongs to one request. Throws what the work throws.
   */
  async share(key: string, work: () => Promise<T>): Promise<{ outcome: T | null; joined: boolean }> {
    const joined = this.isUnderWay(key);
    const flight = (joined && this.#flights.get(key)) || this.#begin(key, work);
    return { outcome: await until(flight.overdueAt, flight.outcome), joined };
  }

  #begin(key: string, work: () => Promise<T>): Flight<T> {
    const flight = { outcome: work(), overdueAt: Date.now() + this.#longestSeconds * 1000 };
    this.#flights.set(key, flight);
    const clear = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    flight.outcome.then(clear, clear);
    return flight;
  }
}

/** The promise's value, or null once the time (Unix milliseconds) has come. */
async function until<T>(time: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((done) => {
    timer = setTimeout(() => done(null), time - Date.now());
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
