import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import type { Random } from "@trendvault/contract/test-support/random";
import { SmallDisk } from "../../api/follow/test-support/small-disk.ts";
import { OriginProcess } from "../../api/test-support/origin-process.ts";
import { until } from "../../api/test-support/until.ts";
import { freePort } from "../../edge-worker/test/free-port.ts";
import { Program } from "../../tests/store/test-support/program.ts";
import { loadOrCreateKeys } from "../../tools/up/settings.ts";
import { type Clocks, findUnmoved, makeClocks, type Unmoved } from "./clocks.ts";
import { commandOf, type Sample, takeSample, withDescendants } from "./figures.ts";
import { WriterPart } from "./writer-part.ts";

const root = resolve(import.meta.dir, "../..");
const diskMegabytes = 512;

type Parts = {
  folder: string;
  disk: SmallDisk | null;
  writer: WriterPart;
  origin: OriginPart;
  edge: Program;
  urls: { edge: string; origin: string };
  edgeKeys: string;
  clocks: Clocks | null;
  unmoved: Unmoved;
};

/** Writer, origin and edge over one database, which lies on a disk of its own where this user may mount one. */
export class EnduranceSystem {
  readonly writer: WriterPart;
  readonly origin: OriginPart;
  readonly edge: Program;
  readonly disk: SmallDisk | null;
  readonly urls: { edge: string; origin: string };
  /** Null when none can be moved. */
  readonly clocks: Clocks | null;
  readonly unmoved: Unmoved;
  readonly #folder: string;
  readonly #signer: EdgeSigner;

  private constructor({ folder, disk, writer, origin, edge, urls, edgeKeys, clocks, unmoved }: Parts) {
    [this.clocks, this.unmoved] = [clocks, unmoved];
    this.#folder = folder;
    [this.disk, this.writer, this.origin, this.edge, this.urls] = [disk, writer, origin, edge, urls];
    this.#signer = new EdgeSigner(parseKeyRing(edgeKeys));
  }

  /** Fills the database and starts all. @throws Error when something does not start */
  static async start({
    writerSeconds,
    movesClocks,
  }: {
    writerSeconds: number;
    movesClocks: boolean;
  }): Promise<EnduranceSystem> {
    const folder = mkdtempSync(join(tmpdir(), "trendvault-endurance-"));
    const disk = SmallDisk.mount(diskMegabytes);
    const databasePath = join(disk?.path ?? folder, "trendvault.db");
    const { PATH = "", HOME = "" } = process.env;
    const { settings } = loadOrCreateKeys(join(folder, "keys.env"));
    const env = { PATH, HOME, ...settings };
    const made = movesClocks ? await makeClocks(folder) : "none was to be.";
    const clocks = typeof made === "string" ? null : made;
    const envOf = (part: "writer" | "origin") => ({ ...env, ...clocks?.[part].env });
    const writer = new WriterPart({
      databasePath,
      folder,
      everySeconds: writerSeconds,
      env: envOf("writer"),
    });
    await writer.fill();
    const ports: [number, number] = [await freePort(), await freePort()];
    const origin = await OriginPart.start(databasePath, { env: envOf("origin"), ports });
    const edgePort = await freePort();
    const urls = { edge: `http://127.0.0.1:${edgePort}`, origin: origin.url };
    const edge = new Program({
      name: "the edge",
      command: [join(root, "edge-worker/dev"), origin.url, String(edgePort), join(folder, "edge")],
      env: { ...env, ...clocks?.edge.envOfWrangler, CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: "true" },
      cwd: root,
      logPath: join(folder, "edge.log"),
      readyUrl: `${urls.edge}/api/regions`,
    });
    await edge.start();
    const unmoved = await findUnmoved(made, {
      writer: () => writer.readClock(),
      origin: () => origin.readClock(),
      edge: () => readAge(urls.edge),
    });
    return new EnduranceSystem({
      folder,
      disk,
      writer,
      origin,
      edge,
      urls,
      edgeKeys: settings.EDGE_KEYS ?? "",
      clocks,
      unmoved,
    });
  }

  /** Resolves when the origin is well and serves the newest generation, and the edge answers. @throws Error after a while */
  async untilHealthy(): Promise<void> {
    await until(async () => (await this.origin.healthProblem(this.newestGeneration())) === null);
    // The edge has no /healthz: that is the origin's, for load balancers.
    await until(async () => (await fetch(`${this.urls.edge}/api/regions`).catch(() => null))?.status === 200);
  }

  newestGeneration(): number {
    return this.#query<{ id: number }>("SELECT max(id) AS id FROM generations").id;
  }

  /** "ok", or what SQLite finds wrong. */
  checkDatabase(): string {
    return this.#query<{ integrity_check: string }>("PRAGMA integrity_check").integrity_check;
  }

  /** The fields of a request that this edge sends. */
  readonly edgeFields = async (): Promise<Record<string, string>> => ({
    [edgeSignatureHeader]: await this.#signer.sign(Date.now() / 1000),
  });

  sample(second: number): Sample {
    const edgePids = withDescendants(this.edge.pid).filter((pid) => commandOf(pid).includes("workerd serve"));
    return takeSample({
      second,
      originPids: this.origin.pids,
      edgePids,
      databasePath: this.writer.databasePath,
    });
  }

  async stop(): Promise<void> {
    await this.edge.kill();
    await this.origin.stop();
    this.disk?.unmount();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
    this.clocks?.remove();
  }

  #query<Row>(sql: string): Row {
    using database = new Database(this.writer.databasePath, { readonly: true });
    return database.query<Row, []>(sql).get() as Row;
  }
}

/** How long ago an edge has stored an answer, by its own clock, in seconds; it rises with that. */
async function readAge(url: string): Promise<number> {
  const ask = async () => Number((await fetch(`${url}/openapi.json`)).headers.get("age"));
  await ask(); // now it is stored
  return ask();
}

const workers = 2;

/** The real origin, on ports that stay its own, which can be killed and come back as systemd would start it. */
class OriginPart {
  readonly #databasePath: string;
  readonly #env: Record<string, string>;
  #process: OriginProcess;

  private constructor(process: OriginProcess, databasePath: string, env: Record<string, string>) {
    this.#process = process;
    this.#databasePath = databasePath;
    this.#env = env;
  }

  /** `ports` are the public one and that of readiness. */
  static async start(
    databasePath: string,
    { env, ports: [port, adminPort] }: { env: Record<string, string>; ports: [number, number] },
  ): Promise<OriginPart> {
    const settings = { ...env, PORT: String(port), ADMIN_PORT: String(adminPort), WORKERS: String(workers) };
    return new OriginPart(await OriginProcess.start(databasePath, settings), databasePath, settings);
  }

  /** Without a slash at its end. */
  get url(): string {
    return this.#process.url.replace(/\/$/, "");
  }

  get pids(): number[] {
    return [this.#process.pid, ...this.#process.workerPids(), ...this.#process.inspectorPids()];
  }

  /** Unix seconds, by its own clock. */
  async readClock(): Promise<number> {
    const { headers } = await fetch(`${this.url}/healthz`);
    return Date.parse(headers.get("date") ?? "") / 1000;
  }

  /** Why it is not well, or null when all of its processes run and it serves a generation. */
  async healthProblem(generation: number): Promise<string | null> {
    if (this.#process.workerPids().length !== workers) return "a worker is missing";
    const said = await this.#process.readiness().catch(() => null);
    if (said === null) return "it does not answer";
    if (said.status !== "ok") return said.reasons.join("; ");
    return said.generation === generation ? null : `it serves ${said.generation}, and not ${generation}`;
  }

  /** Resolves when every worker is another one. */
  async hangUp(): Promise<void> {
    const before = this.#process.workerPids();
    this.#process.kill("SIGHUP");
    await until(() => !this.#process.workerPids().some((pid) => before.includes(pid)));
  }

  killWorker(random: Random): Promise<void> {
    return this.#kill([random.pick(this.#process.workerPids())]);
  }

  killWorkers(): Promise<void> {
    return this.#kill(this.#process.workerPids());
  }

  killInspector(): Promise<void> {
    return this.#kill(this.#process.inspectorPids());
  }

  /** Resolves when they have ended: until then nobody misses them, and all looks well. */
  async #kill(pids: readonly number[]): Promise<void> {
    pids.forEach(kill);
    const running = () => [...this.#process.workerPids(), ...this.#process.inspectorPids()];
    await until(() => !running().some((pid) => pids.includes(pid)));
  }

  /** Ends all of its processes at once, and starts it again. */
  async killAndStart(): Promise<void> {
    await this.#process.remove();
    this.#process = await OriginProcess.start(this.#databasePath, this.#env);
  }

  async stop(): Promise<void> {
    await this.#process.remove();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}
