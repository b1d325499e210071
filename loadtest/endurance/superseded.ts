/** How long a site goes on serving generations that are not the newest any more. Times are of `performance.now()`. */
export class Superseded {
  readonly #endedAt = new Map<number, number>();
  #newest: number | null = null;
  #longestMs = 0;

  /** This is the newest generation of the database now. */
  noteNewest(generation: number, at: number): void {
    for (let past = this.#newest ?? generation; past < generation; past++) this.#endedAt.set(past, at);
    this.#newest = generation;
  }

  /** This generation was served. */
  noteServed(generation: number, at: number): void {
    this.#longestMs = Math.max(this.#longestMs, at - (this.#endedAt.get(generation) ?? at));
  }

  get longestSeconds(): number {
    return this.#longestMs / 1000;
  }
}
