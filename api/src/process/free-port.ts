/**
 * Returns a port that is free, the given one or, for 0, one that the system chooses. It is bound alone for a moment:
 * workers share theirs, so that a second origin would bind it without an error and take half of the requests. Only two
 * origins that start within the same millisecond could both find it free. @throws Error of one sentence
 */
export function assertPortFree(hostname: string, port: number): number {
  return explainBindError(hostname, port, () => {
    const probe = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response(null) });
    const free = probe.port ?? port; // gone after the stop
    void probe.stop(true);
    return free;
  });
}

/** Calls `bind`. @throws Error of one sentence that says which setting to change when `bind` throws */
export function explainBindError<T>(hostname: string, port: number, bind: () => T, setting = "PORT"): T {
  try {
    return bind();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const reason = code === "EADDRINUSE" ? "another program listens there" : message;
    throw new Error(`Cannot listen on ${hostname}:${port}: ${reason}; stop it or set ${setting}`);
  }
}
