/** Resolves once the event loop has looked at its sockets. */
export type NextTurn = () => Promise<void>;

/** Resolves when so many milliseconds have passed, at least one. */
export const afterPause = (milliseconds: number): NextTurn => {
  return () => new Promise((resolve) => setTimeout(resolve, milliseconds));
};

export const afterSockets: NextTurn = () => new Promise((resolve) => setImmediate(resolve));
