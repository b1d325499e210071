/**
 * Returns a port that is free, the given one or, for 0, one that the system chooses. It is bound alone for a moment:
 * workers share theirs, so that a second origin would bind it without an error and take half of the requests. Only two
 * origins that start within the same millisecond could both find it free. @throws Error of one sentence
 */
export function findFreePort(hostname: string, port: number, setting?: "ADMIN_PORT"): number {
  const bind = () => {
    const probe = Bun.listen({ hostname, port, socket: { data() {} } });
    const free = probe.port; // gone after the stop
    probe.stop(true);
    return free;
  };
  return explainBindError(hostname, port, bind, setting);
}

/** Calls `bind`. @throws Error of one sentence that says which setting to change when `bind` throws */
export function explainBindError<T>(
  hostname: string,
  port: number,
  bind: () => T,
  setting: "PORT" | "ADMIN_PORT" = "PORT",
): T {
  try {
    return bind();
  } catch (error) {
    throw new Error(`Cannot listen on ${hostname}:${port}: ${explain(error as BindError, setting)}`);
  }
}

type BindError = { code?: string; message: string };

function explain({ code, message }: BindError, setting: "PORT" | "ADMIN_PORT"): string {
  if (code === "EADDRINUSE") return `another program listens there; stop it or set ${setting}`;
  const host = setting === "PORT" ? "HOST" : "ADMIN_HOST";
  if (code === "EADDRNOTAVAIL") return `this machine has no such address; set ${host}`;
  if (code === "EACCES") return `this user may not listen there; set ${setting}`;
  return `${message}; set ${host} or ${setting}`;
}
