/** Resolves once the event loop has looked at its sockets. */
export type NextTurn = () => Promise<void>;

export const afterSockets: NextTurn = () => new Promise((resolve) => setImmediate(resolve));
