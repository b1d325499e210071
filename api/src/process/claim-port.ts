/**
 * Finds out whether a port is free by binding it alone for a moment: workers share theirs, so that a second
 * origin would bind it without an error and take half of the requests. Only two that start within the same
 * millisecond could both find it free. Gives the port, which the system chooses for 0. Throws an Error of one
 * sentence.
 */
export function claimPort(hostname: string, port: number): number {
  return explainBindError(hostname, port, () => {
    const probe = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response(null) });
    const claimed = probe.port ?? port; // gone after the stop
    void probe.stop(true);
    return claimed;
  });
}

/** Throws what `bind` throws as one sentence that says which setting to change. */
export function explainBindError<T>(hostname: string, port: number, bind: () => T, setting = "PORT"): T {
  try {
    return bind();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const reason = code === "EADDRINUSE" ? "another program listens there" : message;
    throw new Error(`Cannot listen on ${hostname}:${port}: ${reason}; stop it or set ${setting}`);
  }
}
