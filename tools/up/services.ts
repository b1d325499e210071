import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Options } from "./options.ts";

/** Nothing of the local stack listens to other machines. */
export const HOST = "127.0.0.1";

/** What is run, and where it answers once it is ready. */
type ServiceSpec = {
  name: string;
  command: string[];
  env: Record<string, string>;
  logPath: string;
  readyUrl: string;
};

/** `root` is the project's folder, `env` what every service gets. */
type Context = { root: string; env: Record<string, string> };

/** Those that the options ask for, in the order in which they start. */
export function servicesOf(options: Options, context: Context): ServiceSpec[] {
  return [
    ...(options.origin ? [originService(options, context)] : []),
    ...(options.edge ? [edgeService(options, context)] : []),
  ];
}

/** The origin. With an edge in front it answers that edge only, as deployed; without one it answers every client. */
function originService({ db, port, adminPort, edge }: Options, { root, env }: Context): ServiceSpec {
  const { EDGE_KEYS = "", ...others } = env;
  return {
    name: "origin",
    command: [join(root, ".tools/bin/supervisor"), "bun", "--no-env-file", join(root, "api/src/main.ts")],
    env: {
      ...others,
      ...(edge ? { EDGE_KEYS } : {}),
      HOST,
      PORT: String(port),
      ADMIN_HOST: HOST,
      ADMIN_PORT: String(adminPort),
    },
    logPath: join(dirname(db), "log/origin.log"),
    readyUrl: `http://${HOST}:${adminPort}/readyz`, // it listens there after its first worker does on its own port
  };
}

/** The edge, in front of that origin or, without one, of a store. What it caches is kept beside the database. */
function edgeService({ db, port, origin, edgePort }: Options, { root, env }: Context): ServiceSpec {
  const state = `${db}.${origin ? "edge" : "edge-without-origin"}`; // another database has other answers
  const source = origin ? `http://${HOST}:${port}` : "--no-origin";
  return {
    name: "edge",
    command: [join(root, "edge-worker/dev"), source, String(edgePort), state],
    env,
    logPath: join(dirname(db), "log/edge.log"),
    readyUrl: `http://${HOST}:${edgePort}/healthz`,
  };
}

type StackOptions = {
  /** Ends the stack. */
  signal: AbortSignal;
  /** Runs beside the services once all of them answer, and ends when its signal aborts. */
  whenReady: (stopped: AbortSignal) => Promise<void>;
  /** How long a service may take until it answers; a busy machine takes minutes where a quiet one takes seconds. */
  startTimeoutMs?: number;
  progressIntervalMs?: number;
};

/**
 * Starts the services in their order, each when the one before it answers, and stops them in the reverse order.
 * Resolves with null when the signal aborted, or with a sentence that says which service ended and why. They are stopped,
 * too, when `whenReady` throws.
 */
export async function runStack(
  specs: readonly ServiceSpec[],
  { signal, whenReady, startTimeoutMs = 300_000, progressIntervalMs = 10_000 }: StackOptions,
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
      const ready = service.ready({ signal: stopped.signal, startTimeoutMs, progressIntervalMs });
      const answered = await Promise.race([ready, end.promise.then(() => false)]);
      if (answered) continue;
      const time = `${startTimeoutMs / 1000} seconds`;
      // Has no effect when the service has exited: the first reason counts.
      end.resolve(`The ${spec.name} did not answer at ${spec.readyUrl} within ${time}.`);
      return false;
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

const STOP_TIMEOUT_MS = 10_000;

/** One long-running process of the local stack. What it prints goes to its log. */
class Service {
  readonly #child: Bun.Subprocess;

  constructor(readonly spec: ServiceSpec) {
    mkdirSync(dirname(spec.logPath), { recursive: true });
    const log = openSync(spec.logPath, "w");
    // A session of its own: Ctrl-C reaches only us, and we stop the services in order.
    const options = { env: spec.env, detached: true, stdin: "ignore", stdout: log, stderr: log } as const;
    this.#child = Bun.spawn(spec.command, options);
    closeSync(log);
  }

  /**
   * Resolves with true once it answers, and with false when the signal aborts or the time is over. Prints now and then
   * that it still waits.
   */
  async ready({
    signal,
    startTimeoutMs,
    progressIntervalMs,
  }: Required<Omit<StackOptions, "whenReady">>): Promise<boolean> {
    const started = performance.now();
    let printed = 0;
    for (let waited = 0; waited < startTimeoutMs && !signal.aborted; waited = performance.now() - started) {
      if (await answers(this.spec.readyUrl)) return true;
      if (waited - printed >= progressIntervalMs) {
        console.log(
          `Waiting for the ${this.spec.name} (${(waited / 1000).toFixed()} s); its log: ${this.spec.logPath}`,
        );
        printed = waited;
      }
      await Bun.sleep(20);
    }
    return false;
  }

  /** Resolves when the process has ended, with a sentence that says how, and the last lines of its log. */
  async exited(): Promise<string> {
    await this.#child.exited;
    const how = this.#child.signalCode
      ? `was killed by ${this.#child.signalCode}`
      : `ended with exit code ${this.#child.exitCode}`;
    return `The ${this.spec.name} ${how}.\n${this.#lastLines(5)}\nIts log: ${this.spec.logPath}`;
  }

  /** SIGTERM; then SIGKILL, for it and all it started, when it has not ended after 10 seconds. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => process.kill(-this.#child.pid, "SIGKILL"), STOP_TIMEOUT_MS);
    await this.#child.exited;
    clearTimeout(timer);
  }

  #lastLines(count: number): string {
    return readFileSync(this.spec.logPath, "utf8").trimEnd().split("\n").slice(-count).join("\n");
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    () => true,
    () => false, // not listening yet
  );
}
