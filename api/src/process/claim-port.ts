/**
 * Finds out whether a port is free by binding it alone for a moment: workers share theirs, so that a second
 * origin would bind it without an error and take half of the requests. Gives the port, which the system chooses
 * for 0. Throws an Error of one sentence.
 */
export function claimPort(hostname: string, port: number): number {
  try {
    const probe = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response(null) });
    const claimed = probe.port ?? port; // gone after the stop
    void probe.stop(true);
    return claimed;
  } catch (error) {
    throw new Error(`Cannot listen on ${hostname}:${port}: ${describeBindError(error)}; stop it or set PORT`);
  }
}

/** Why a port could not be bound. */
export function describeBindError(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  return code === "EADDRINUSE" ? "another program listens there" : message;
}
