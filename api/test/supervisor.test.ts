import { afterEach, expect, test } from "bun:test";
import { type ChildProcess, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { delimiter, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import {
  exitOf,
  isRunning,
  killLaunched,
  launch,
  newFolder,
  readIfThere,
  root,
  until,
} from "@trendvault/kit/machine";
import { childPids } from "@trendvault/kit/origin-process";
import { drawsOf, Random, testSeed } from "@trendvault/kit/random";

// The supervisor itself, with workers that do what a test tells them over a socket of its own.

/** The program of such a worker: only its source is used. `path` is of the test's socket. */
function runFakeWorker(path: string): void {
  const { writeSync } = require("node:fs") as typeof import("node:fs");
  const control = (require("node:net") as typeof import("node:net")).connect(path);
  const tell = (what: object) => void control.write(`${JSON.stringify(what)}\n`);
  const say = (text: string) => {
    for (let bytes = Buffer.from(text); bytes.length > 0; )
      try {
        bytes = bytes.subarray(writeSync(3, bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") process.exit(1);
      }
  };
  let isQuiet = true;
  let isStubborn = false;
  let channel: { pause(): void; terminate(): void } | undefined;
  let count = 0;
  const report = () => {
    if (!isQuiet) say(`{"report":{"slot":${process.argv[3]},"count":${count++}}}\n`);
  };
  const actions: Record<string, (argument: string) => void> = {
    say,
    report: () => {
      isQuiet = false;
      report();
    },
    hush: () => {
      isQuiet = true;
    },
    resist: () => {
      isStubborn = true;
    },
    confirm: () => tell({ hasSaid: true }),
    deafen: () => channel?.pause(),
    hangUp: () => {
      isQuiet = true;
      channel?.terminate();
    },
    flood: () => {
      for (;;) say('"nothing that the supervisor knows"\n'.repeat(1000));
    },
    exit: (code) => process.exit(Number(code)),
    leaveChild: () => {
      Bun.spawn(["sleep", "1000"], { stdio: ["ignore", "ignore", "ignore", 3] });
    },
  };
  setInterval(report, 300);
  for (const signal of ["SIGTERM", "SIGUSR2", "SIGHUP"])
    process.on(signal, () => {
      tell({ signal });
      if (signal !== "SIGHUP" && !isStubborn) process.exit(0);
    });
  let rest = "";
  control.on("data", (bytes) => {
    const lines = (rest + bytes.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [action, argument] = JSON.parse(line);
      actions[action]?.(argument);
    }
  });
  control.on("close", () => process.exit(0));
  const socket = { data: (_: unknown, bytes: Buffer) => tell({ heard: bytes.toString() }), close: () => {} };
  void Bun.connect({ fd: 3, socket } as never).then((connected) => {
    channel = connected;
    tell({ pid: process.pid, words: process.argv.slice(2) });
  });
}

type Message = { report?: { slot?: number; mark?: string }; gone?: number; exits?: object; reopen?: true };

/** Such a worker as the test sees it. */
class FakeWorker {
  readonly pid: number;
  readonly slot: number;
  readonly words: string[];
  /** What its program began with: NAME=VALUE. */
  readonly env: string[];
  readonly saidHelloAt = performance.now();
  readonly signals: string[] = [];
  /** What the supervisor has told it. */
  readonly heard: Message[] = [];
  /** Whether the supervisor can read that it does. */
  listens = false;
  hasEnded = false;
  #rest = "";
  readonly #control: Socket;

  constructor(control: Socket, { pid, words }: { pid: number; words: string[] }) {
    this.pid = pid;
    this.words = words;
    this.slot = Number(words[1]);
    this.env = readIfThere(`/proc/${pid}/environ`).split("\0").slice(0, -1);
    this.#control = control;
  }

  /** The first of all. */
  get isFirst(): boolean {
    return this.words[2] === "0";
  }

  get isAgain(): boolean {
    return this.words[4] === "again";
  }

  get marks(): string[] {
    return this.heard.flatMap(({ report }) => report?.mark ?? []);
  }

  take({ heard = "", signal, hasSaid }: { heard?: string; signal?: string; hasSaid?: true }): void {
    if (hasSaid) this.listens = true;
    const lines = (this.#rest + heard).split("\n");
    this.#rest = lines.pop() ?? "";
    this.heard.push(...lines.map((line) => JSON.parse(line)));
    if (signal !== undefined) this.signals.push(signal);
  }

  do(action: string, argument = ""): this {
    if (!this.hasEnded) this.#control.write(`${JSON.stringify([action, argument])}\n`);
    return this;
  }

  /** Says a line to the supervisor. */
  say(line: string): this {
    return this.do("say", `${line}\n`);
  }

  listen(): this {
    return this.do("report").say('"listens 3000"');
  }

  /** Starts with all that a good worker does. */
  serve(count: number): void {
    this.listen();
    if (this.isFirst) this.say(`"grow ${count} 3001"`);
    this.do("confirm");
  }

  signal(signal: NodeJS.Signals): void {
    if (isRunning(this.pid)) process.kill(this.pid, signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await until(() => this.hasEnded);
  }
}

type Several = [FakeWorker, FakeWorker, FakeWorker, ...FakeWorker[]]; // fewer where a test asks for fewer
type Line = { event: string; pid: number } & Record<string, unknown>;
type Options = { env?: Record<string, string>; engine?: string; behave?: (worker: FakeWorker) => void };

const supervisorProgram = findSupervisor();
const own = { PATH: process.env.PATH ?? "" };
let supervisor: Supervisor;

/** With checks of its memory and arithmetic, where the system's compiler can make them; else the one that is installed. */
function findSupervisor(): string {
  const program = join(newFolder("sanitized"), "supervisor");
  const checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover"];
  const warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"];
  const compile = (words: string[], input = "") =>
    spawnSync("cc", ["-std=c11", "-g", ...checks, "-o", program, ...words], { input });
  if (compile(["-x", "c", "-"], "int main(void) { return 0; }").status !== 0) {
    console.warn("There is no cc with sanitizers here: the supervisor that is installed is tested.");
    return join(root, ".tools/bin/supervisor");
  }
  const { status, stderr } = compile([...warnings, join(root, "api/supervisor/supervisor.c")]);
  if (status !== 0) throw new Error(`supervisor.c: ${stderr}`);
  return program;
}

/** The program under test. */
class Supervisor {
  /** All that have started, in their order. */
  readonly workers: FakeWorker[] = [];
  readonly output: string[] = [];
  stderr = "";
  readonly #ended: Promise<number>;
  /** Whether the test knows that it ends. */
  hasToEnd = false;
  readonly child: ChildProcess;
  readonly #count: number;
  /** What a worker does at its start. */
  behave: (worker: FakeWorker) => void;

  constructor(count: number, { env = {}, engine = "", behave }: Options = {}) {
    const folder = newFolder("supervisor");
    const [program, socket] = [join(folder, "worker.js"), join(folder, "socket")];
    writeFileSync(program, `(${runFakeWorker})(${JSON.stringify(socket)})`);
    writeFileSync(join(folder, "engine.env"), engine);
    this.#count = count;
    this.behave = behave ?? this.serve;
    createServer((control) => this.#accept(control))
      .listen(socket)
      .unref();
    const command = [supervisorProgram, "bun", "--no-env-file", program];
    this.child = launch(command, { env: { ...own, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    this.#ended = exitOf(this.child);
    const { stdout, stderr } = this.child;
    if (stdout === null || stderr === null) throw new Error("The supervisor has no output");
    onLine(stdout, (line) => this.output.push(line));
    stderr.on("data", (text) => {
      this.stderr += text;
    });
  }

  /** Starts one and waits until all of its workers listen. */
  static async start(count: number, options: Options = {}): Promise<Several> {
    supervisor = new Supervisor(count, options);
    return await supervisor.whole();
  }

  readonly serve = (worker: FakeWorker) => worker.serve(this.#count);

  get ended(): Promise<number> {
    this.hasToEnd = true;
    return this.#ended;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** How many it has, whether their program has begun or not. */
  get processes(): number {
    return readIfThere(`/proc/${this.pid}/task/${this.pid}/children`).split(" ").length - 1;
  }

  get running(): FakeWorker[] {
    return this.workers.filter(({ hasEnded }) => !hasEnded);
  }

  events(name: string): Line[] {
    const lines = this.output.map((line) => JSON.parse(line) as Line);
    return lines.filter(({ event }) => event === name);
  }

  async logs(name: string, count = 1): Promise<Line> {
    await until(() => this.events(name).length >= count);
    return this.events(name)[count - 1] as Line;
  }

  /** The worker that starts as number `index` of all. */
  async started(index: number): Promise<FakeWorker> {
    await until(() => this.workers.length > index);
    return this.workers[index] as FakeWorker;
  }

  /** Waits until every slot has one worker, which listens, and there is no other; gives them. */
  async whole(): Promise<Several> {
    const order = () => this.running.sort((a, b) => a.slot - b.slot);
    const serves = ({ listens, slot }: FakeWorker, index: number) => listens && slot === index;
    const isWhole = () => this.running.length === this.#count && order().every(serves);
    await until(() => isWhole() && childPids(this.pid, "worker").length === this.#count);
    return order() as Several;
  }

  /** Waits until the supervisor has taken all that a worker has said so far: another one hears what it says last. */
  async taken(sender: FakeWorker, reader: FakeWorker): Promise<void> {
    const mark = `mark ${marks++}`;
    sender.say(JSON.stringify({ report: { mark } }));
    await until(() => reader.marks.includes(mark));
  }

  /** SIGTERM: all end well, and what it wrote is a log. */
  async stop(): Promise<void> {
    this.child.kill("SIGTERM");
    expect(await this.ended).toBe(0);
    await until(() => this.running.length === 0);
    expect(childPids(this.pid, "worker")).toEqual([]);
    expect(this.stderr).toBe("");
    for (const line of this.output.map((text) => JSON.parse(text)).filter(({ pid }) => pid === this.pid)) {
      expect(Object.keys(line).slice(0, 4)).toEqual(["time", "level", "event", "message"]);
      expect(line.time).toBe(new Date(line.time).toISOString());
      expect(["info", "error"]).toContain(line.level);
    }
  }

  #accept(control: Socket): void {
    let worker: FakeWorker | undefined;
    onLine(control, (line) => {
      const told = JSON.parse(line);
      if (worker !== undefined) return worker.take(told);
      worker = new FakeWorker(control, told);
      this.workers.push(worker);
      this.behave(worker);
    });
    control.on("error", () => {}); // it has ended
    control.on("close", () => {
      if (worker !== undefined) worker.hasEnded = true;
    });
  }
}

let marks = 0;

/** Whole lines only; node:readline ends one at U+2028, too. */
function onLine(stream: Readable, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}

afterEach(async () => {
  try {
    if (!supervisor.hasToEnd) await supervisor.stop();
  } finally {
    await killLaunched(supervisor.child);
  }
});

const wait = () => {};
const pidsOf = (workers: FakeWorker[]) => workers.map(({ pid }) => pid);

test("workers are told their slot and the ports of the first one, and so are their successors", async () => {
  const [, , last] = await Supervisor.start(3);
  await last.kill();
  await supervisor.whole();
  const words = supervisor.workers.map((worker) => worker.words.join(" "));
  expect(words.slice(0, 3).sort()).toEqual(["worker 0 0 0", "worker 1 3000 3001", "worker 2 3000 3001"]);
  expect(words[3]).toBe("worker 2 3000 3001");
  expect(await supervisor.logs("worker_exited")).toMatchObject({ worker_pid: last.pid, exit: "SIGKILL" });
});

test("with each crash in a row a worker is started again later, up to three seconds later", async () => {
  const workers = await Supervisor.start(7);
  for (const worker of workers) worker.do("exit", "5");
  await supervisor.logs("worker_exited", 7);
  const crashes = supervisor.events("worker_exited");
  expect(crashes.map(({ exit }) => exit)).toEqual(Array(7).fill(5));
  expect(crashes.map(({ delay_ms }) => delay_ms)).toEqual([100, 200, 400, 800, 1600, 3000, 3000]);
  const successors = await supervisor.whole();
  const waited = crashes.map(({ time, worker_pid }) => {
    const slot = workers.findIndex(({ pid }) => pid === worker_pid);
    return Number(successors[slot]?.saidHelloAt) + performance.timeOrigin - Date.parse(String(time));
  });
  for (const [index, { delay_ms }] of crashes.entries())
    expect(waited[index]).toBeGreaterThanOrEqual(Number(delay_ms) - 5); // clocks are rounded
});

test.each<[string, string]>([
  ["78", ""], // it has written the reason itself
  ["1", "Cannot start: the first worker exited with 1 before it was ready\n"],
  ["0", "Cannot start: the first worker exited with 0 before it was ready\n"],
])("when the first worker exits with %s before it is ready, so does all", async (code, reason) => {
  supervisor = new Supervisor(2, {
    behave: (worker) => {
      worker.listen();
      worker.do("exit", code);
    },
  });
  expect(await supervisor.ended).toBe(1);
  expect(supervisor.workers).toHaveLength(1);
  expect(supervisor.stderr).toBe(reason);
  expect(supervisor.output).toEqual([]);
});

test("a program that is not there is said", async () => {
  supervisor = new Supervisor(1, { env: { PATH: "/nowhere" } });
  expect(await supervisor.ended).toBe(1);
  expect(supervisor.stderr).toStartWith("Cannot run bun: ");
});

test("a first worker that a signal to the whole group has ended is no failure", async () => {
  supervisor = new Supervisor(1, { behave: wait });
  const first = await supervisor.started(0);
  first.signal("SIGTERM");
  while (isRunning(first.pid)); // the supervisor hears of its end first
});

test("SIGHUP replaces the workers one at a time, and an old one goes when the new one listens", async () => {
  const old = await Supervisor.start(3);
  supervisor.behave = wait;
  supervisor.child.kill("SIGHUP");
  for (const [slot, worker] of old.entries()) {
    const next = await supervisor.started(3 + slot);
    expect(next.slot).toBe(slot);
    expect(worker.signals).toEqual([]);
    worker.do("resist");
    next.serve(3);
    await until(() => worker.signals.length > 0);
    await supervisor.taken(worker, next);
    expect(supervisor.processes).toBe(4);
    worker.do("exit", "0");
    const replaced = await supervisor.logs("worker_replaced", slot + 1);
    expect(replaced).toMatchObject({ old_worker_pid: worker.pid, worker_pid: next.pid });
    expect(worker.signals).toEqual(["SIGUSR2"]);
  }
  expect(pidsOf(await supervisor.whole())).toEqual(pidsOf(supervisor.workers.slice(3)));
});

test("SIGHUP waits for a worker that is starting before it replaces it", async () => {
  supervisor = new Supervisor(2, { behave: (worker) => worker.isFirst && worker.serve(2) });
  const starting = await supervisor.started(1);
  supervisor.child.kill("SIGHUP");
  (await supervisor.started(2)).serve(2);
  await supervisor.logs("worker_replaced");
  await supervisor.taken(starting, await supervisor.started(2));
  expect(supervisor.processes).toBe(2);
  supervisor.behave = supervisor.serve;
  starting.serve(2);
  await supervisor.logs("worker_replaced", 2);
  expect((await supervisor.whole()).map(({ isAgain }) => isAgain)).toEqual([true, false]);
});

test("a second SIGHUP while workers are replaced replaces the new ones once more", async () => {
  await Supervisor.start(2);
  supervisor.behave = wait;
  supervisor.child.kill("SIGHUP");
  const next = await supervisor.started(2);
  supervisor.behave = supervisor.serve;
  next.serve(2);
  await supervisor.logs("worker_replaced");
  supervisor.child.kill("SIGHUP");
  await supervisor.logs("worker_replaced", 4);
  expect(pidsOf(await supervisor.whole())).toEqual(pidsOf(supervisor.workers.slice(-2)));
});

test("a worker can have all replaced, too", async () => {
  const [, second] = await Supervisor.start(2);
  second.say('"replace"');
  await supervisor.logs("worker_replaced", 2);
  expect(supervisor.workers.map(({ isAgain }) => isAgain)).toEqual(Array(4).fill(false));
});

const failures: [string, (candidate: FakeWorker) => void][] = [
  ["exits", (candidate) => candidate.do("exit", "78")],
  ["reports and exits", (candidate) => candidate.do("report").do("exit", "1")],
];
if (process.env.TEST_LONG)
  failures.push(["reports and hangs", (candidate) => candidate.do("report").do("hush")]); // 15 seconds

test.each(failures)("when a new worker %s before it listens, the old one stays", async (_how, fail) => {
  const [old, other] = await Supervisor.start(2);
  supervisor.behave = fail;
  supervisor.child.kill("SIGHUP");
  expect(await supervisor.logs("worker_replacement_failed")).toMatchObject({ worker_pid: old.pid });
  supervisor.behave = supervisor.serve;
  expect(pidsOf(await supervisor.whole())).toEqual(pidsOf([old, other]));
  expect(supervisor.workers).toHaveLength(3);
  supervisor.child.kill("SIGHUP");
  await supervisor.logs("worker_replaced", 2);
  expect(pidsOf(await supervisor.whole())).toEqual(pidsOf(supervisor.workers.slice(3)));
});

test("a second SIGHUP is not lost when a worker that was started before it fails", async () => {
  const [, other] = await Supervisor.start(2);
  supervisor.behave = wait;
  supervisor.child.kill("SIGHUP");
  const candidate = await supervisor.started(2);
  supervisor.child.kill("SIGHUP");
  supervisor.behave = supervisor.serve;
  await supervisor.taken(candidate, other);
  candidate.do("exit", "1");
  await supervisor.logs("worker_replaced", 2);
});

test("an old worker that ends while its successor starts has one successor", async () => {
  const [old, other] = await Supervisor.start(2);
  supervisor.behave = wait;
  supervisor.child.kill("SIGHUP");
  const next = await supervisor.started(2);
  await old.kill();
  expect(await supervisor.logs("worker_exited")).toMatchObject({ delay_ms: 0 });
  supervisor.behave = supervisor.serve;
  next.serve(2);
  await supervisor.logs("worker_replaced");
  const [first, second] = await supervisor.whole();
  expect(first).toBe(next);
  expect(second).not.toBe(other);
  expect(supervisor.workers).toHaveLength(4);
});

test("when both an old worker and its successor end, another one is started", async () => {
  const [old] = await Supervisor.start(1);
  supervisor.behave = wait;
  supervisor.child.kill("SIGHUP");
  const next = await supervisor.started(1);
  supervisor.behave = supervisor.serve;
  await old.kill();
  await supervisor.logs("worker_exited");
  await next.kill();
  expect(pidsOf(await supervisor.whole())).toEqual(pidsOf(supervisor.workers.slice(2)));
});

test("a worker that stands still, does not report or closes its socket is replaced after three seconds", async () => {
  const [first, second, third, fourth] = await Supervisor.start(4);
  const [before, computed] = [performance.now(), computedMs(supervisor.pid)];
  first.signal("SIGSTOP");
  second.do("hush");
  third.do("hangUp");
  await supervisor.logs("worker_hung", 3);
  const hung = supervisor.events("worker_hung");
  expect(hung.map(({ worker_pid }) => worker_pid).sort()).toEqual(pidsOf([first, second, third]).sort());
  for (const { silent_ms } of hung) expect(Number(silent_ms)).toBeGreaterThan(3000);
  expect(performance.now() - before).toBeGreaterThan(2600); // a report every 300 ms
  expect(computedMs(supervisor.pid) - computed).toBeLessThan(1000);
  await until(() => [first, second, third].every(({ hasEnded }) => hasEnded));
  expect((await supervisor.whole())[3]).toBe(fourth);
  expect(fourth?.heard).toContainEqual({ exits: { crashed: 0, hung: 3 } });
  expect(supervisor.events("worker_exited")).toEqual([]);
});

test("after a pause of the supervisor itself, workers have time to report", async () => {
  const workers = await Supervisor.start(2);
  for (const worker of workers) worker.signal("SIGSTOP");
  process.kill(supervisor.pid, "SIGSTOP");
  await Bun.sleep(4200);
  process.kill(supervisor.pid, "SIGCONT");
  await Bun.sleep(1000); // it looks twice a second
  for (const worker of workers) worker.signal("SIGCONT");
  await supervisor.taken(workers[0], workers[1]);
  await supervisor.taken(workers[1], workers[0]);
  expect(pidsOf(await supervisor.whole())).toEqual(pidsOf(workers));
  expect(supervisor.output).toEqual([]);
});

test("the options of the engine are set in workers where they are not set already", async () => {
  const engine = "# A=comment\n\nGIVEN=engine\nNEW=engine = 1\nGIVE=engine\nLAST=engine";
  const [worker] = await Supervisor.start(1, {
    engine,
    env: { GIVEN: "user", NODE_CHANNEL_FD: "9", ORIGIN_KEPT_EDGE_KEYS: "user" },
  });
  const set = ["GIVEN=user", "NEW=engine = 1", "GIVE=engine", "LAST=engine", `PATH=${own.PATH}`];
  const channel = ["NODE_CHANNEL_FD=3", "NODE_CHANNEL_SERIALIZATION_MODE=json"];
  expect(worker.env.sort()).toEqual([...set, ...channel].sort());
});

function anyText(random: Random, length: number): string {
  const draw = () => (random.below(3) === 0 ? random.pick([..."\n\r\"'%=\\# "]) : anyCharacter(random));
  return Array.from({ length }, draw).join("");
}

function anyCharacter(random: Random): string {
  const text = String.fromCodePoint(1 + random.below(random.pick([0x7f, 0xffff, 0x10ffff])));
  return text.isWellFormed() ? text : "é";
}

test(`what a worker keeps is in the environment of later ones (seed ${testSeed})`, async () => {
  const random = new Random();
  const [first] = await Supervisor.start(2);
  const keep = (values: [string, string][]) =>
    first.say(`"keep ${values.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join(" ")}"`);
  const texts = [0, 1, 2, 10, 100, 1000].map((length) => [`A${length}`, anyText(random, length)] as const);
  const kept = Object.entries({ ...Object.fromEntries(texts), LONG: anyText(random, 30_000), B: "%41=%" });
  keep(kept.map(([name]) => [name, `old ${name}`]));
  keep(kept);
  const ofKept = ({ env }: FakeWorker) => env.filter((assignment) => assignment.startsWith("ORIGIN_KEPT_"));
  const hasLast = (worker: FakeWorker) => ofKept(worker).includes("ORIGIN_KEPT_B=%41=%");
  await until(() => supervisor.workers.some(hasLast));
  const found = supervisor.workers.filter(hasLast).flatMap(ofKept);
  expect(found.sort()).toEqual(kept.map(([name, value]) => `ORIGIN_KEPT_${name}=${value}`).sort());
  await supervisor.whole();
});

test("only the first worker that is started after SIGHUP reads files again", async () => {
  const again = () => supervisor.workers.map(({ isAgain }) => isAgain);
  await Supervisor.start(2);
  supervisor.child.kill("SIGHUP");
  await supervisor.logs("worker_replaced", 2);
  const [first] = await supervisor.whole();
  expect(again()).toEqual([false, false, true, false]);
  await first.kill(); // what it has read is kept
  await supervisor.whole();
  expect(again().slice(4)).toEqual([false]);
});

test("one that ends while it reads files again leaves that to the next", async () => {
  const [old] = await Supervisor.start(1);
  supervisor.behave = wait;
  await old.kill();
  const next = await supervisor.started(1);
  supervisor.child.kill("SIGHUP");
  await next.kill();
  const again = await supervisor.started(2);
  await again.kill();
  supervisor.behave = supervisor.serve;
  await supervisor.whole();
  expect(supervisor.workers.map(({ isAgain }) => isAgain)).toEqual([false, false, true, true]);
});

test("when what is kept has changed, all that began with what was kept before are replaced", async () => {
  const [, second, third] = await Supervisor.start(3);
  supervisor.behave = wait;
  await second.kill(); // its successor is on its way when files are read again
  const meanwhile = await supervisor.started(3);
  supervisor.child.kill("SIGHUP");
  await third.kill();
  const again = await supervisor.started(4);
  expect([meanwhile.isAgain, again.isAgain]).toEqual([false, true]);
  supervisor.behave = supervisor.serve;
  meanwhile.serve(3);
  again.say('"keep KEYS=new REASON="').serve(3);
  await until(() =>
    supervisor.running.every(({ env, pid }) => pid === again.pid || env.includes("ORIGIN_KEPT_KEYS=new")),
  );
  await supervisor.whole();
});

test("SIGHUP before all have started leaves none with what was kept before", async () => {
  supervisor = new Supervisor(4, { behave: wait });
  const first = await supervisor.started(0);
  first.say('"keep KEYS=old"');
  supervisor.child.kill("SIGHUP");
  supervisor.behave = (worker) => {
    if (worker.isAgain) worker.say('"keep KEYS=new"');
    worker.serve(4);
  };
  first.serve(4);
  const isNew = ({ env, isAgain }: FakeWorker) => isAgain || env.includes("ORIGIN_KEPT_KEYS=new");
  await until(() => supervisor.running.length === 4 && supervisor.running.every(isNew));
  await supervisor.whole();
});

const report = (mark: string) => JSON.stringify({ report: { mark } });

test("of each slot others hear the newest worker, and in it the successor alone hears the old one", async () => {
  const [old, other] = await Supervisor.start(2);
  old.say(report("old, alone"));
  await until(() => other.marks.includes("old, alone"));
  supervisor.behave = wait;
  supervisor.child.kill("SIGHUP");
  const next = await supervisor.started(2);
  next.say(report("new"));
  await until(() => other.marks.includes("new"));
  old.say(report("old"));
  await until(() => next.marks.includes("old"));
  await supervisor.taken(other, old);
  await supervisor.taken(next, other);
  expect(old.marks).toEqual([expect.stringMatching(/^mark/)]);
  expect(other.marks).toEqual(["old, alone", "new", expect.stringMatching(/^mark/)]);
  next.do("exit", "1");
  await supervisor.logs("worker_replacement_failed");
  await supervisor.taken(old, other);
});

test("a new worker is told the last report of every slot, which ones are empty, and then the exits", async () => {
  const [first, ...others] = await Supervisor.start(4);
  for (const [index, worker] of [first, ...others].entries()) {
    worker.do("hush");
    worker.say(report("an old one"));
    worker.say(report(`last of ${index}`));
  }
  await until(() => first.marks.length === 6);
  await Promise.all(others.map((worker) => worker.kill()));
  await supervisor.whole();
  const next = await supervisor.started(4);
  const told = next.heard.slice(0, next.heard.findIndex((message) => "exits" in message) + 1);
  const lastReports = [0, 1, 2, 3].map((slot) => ({ report: { mark: `last of ${slot}` } }));
  const empty = others.filter(({ slot }) => slot !== next.slot).map(({ slot }) => ({ gone: slot }));
  const sorted = (messages: object[]) => messages.map((message) => JSON.stringify(message)).sort();
  expect(sorted(told.slice(0, -1))).toEqual(sorted([...lastReports, ...empty]));
  expect(told.at(-1)).toEqual({ exits: { crashed: 3, hung: 0 } });
  for (const { slot } of others) expect(first.heard).toContainEqual({ gone: slot });
});

test("what a worker asks to be opened anew reaches that worker alone", async () => {
  const [first, second, third] = await Supervisor.start(3);
  for (const pid of [1, process.pid, supervisor.pid, second.pid]) first.say(`"reopen ${pid}"`);
  await supervisor.taken(first, third);
  await until(() => second.heard.some(({ reopen }) => reopen));
  const heard = [first, second, third].map((worker) => worker.heard.filter(({ reopen }) => reopen));
  expect(heard).toEqual([[], [{ reopen: true }], []]);
});

test(`lines of the log come out whole, however they are cut (seed ${testSeed})`, async () => {
  const random = new Random();
  const [first, second] = await Supervisor.start(2);
  const texts = Array.from({ length: 40 }, () => anyText(random, random.below(300)));
  const said = texts.map((message, index) => JSON.stringify({ time: "now", index, message, pid: 1 }));
  for (const worker of [first, second]) {
    worker.do("hush"); // its reports would be in between
    const characters = [...said.filter((_, index) => index % 2 === worker.slot), ""].join("\n");
    for (let rest = [...characters]; rest.length > 0; )
      worker.do("say", rest.splice(0, 1 + random.below(3000)).join(""));
    worker.do("report");
  }
  await until(() => supervisor.output.length === said.length);
  expect(supervisor.output.sort()).toEqual(said.sort());
});

const nonsense = [
  ...'|{|null|"|"listens|"listens 0"|"listens -1"|"listens 70000"|"grow"|"grow 0 0"|"grow 100000 1"'.split(
    "|",
  ),
  ...'"keep "|"keep %"|"keep  %zz%4 "|"reopen"|"reopen 0"|"reopen -1"|\0\0|é'.split("|"),
  `"reopen ${"9".repeat(400)}"`,
];

test.each<[string, (worker: FakeWorker) => void]>([
  ["says what nobody understands", (worker) => worker.say(nonsense.join("\n"))],
  ["exits in the middle of a line", (worker) => worker.do("say", '{"time":"no').do("exit", "1")],
  ["says three megabytes in a line", (worker) => worker.do("say", "x".repeat(3_000_000))],
  ["leaves a child that has its socket", (worker) => worker.do("leaveChild").do("exit", "0")],
])("a worker that %s harms no other", async (what, misbehave) => {
  const [first, second, third] = await Supervisor.start(3);
  misbehave(third);
  if (/exits|megabytes|child/.test(what)) {
    await supervisor.logs("worker_exited");
    await until(() => third.hasEnded);
  }
  third.do("say", "\n");
  await supervisor.taken(first, second);
  await supervisor.taken(second, first);
  await third.kill();
  await supervisor.whole();
  expect(supervisor.workers).toHaveLength(4);
  expect(supervisor.workers[3]?.words).toEqual(["worker", "2", "3000", "3001"]);
  expect([first, second].some(({ hasEnded }) => hasEnded)).toBe(false);
});

test("before the first worker is ready, senseless numbers of workers are ignored", async () => {
  supervisor = new Supervisor(2, {
    behave: (worker) => {
      for (const line of nonsense) worker.say(line);
      worker.serve(2);
      worker.say('"grow 5 1"');
    },
  });
  const [first, second] = await supervisor.whole();
  await supervisor.taken(first, second);
  expect(supervisor.workers).toHaveLength(2);
  expect(second.words).toEqual(["worker", "1", "3000", "3001"]);
});

test("a worker that reads nothing holds up nobody, and what it is told is not kept for ever", async () => {
  const [first, second, deaf] = await Supervisor.start(3);
  deaf.do("deafen");
  const before = residentBytes(supervisor.pid);
  const long = JSON.stringify({ report: { text: "x".repeat(100_000) } });
  for (let turn = 0; turn < 200; turn++) {
    first.say(long);
    if (turn % 20 === 0) await supervisor.taken(first, second);
  }
  expect(residentBytes(supervisor.pid) - before).toBeLessThan(10_000_000);
  expect(pidsOf(await supervisor.whole())).toEqual(pidsOf([first, second, deaf]));
});

function residentBytes(pid: number): number {
  return 1024 * Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

test("while one worker says something without end, others are replaced and all can be stopped", async () => {
  const [first, second] = await Supervisor.start(2);
  second.do("flood");
  await first.kill();
  await supervisor.logs("worker_exited");
  supervisor.child.kill("SIGTERM");
  await supervisor.logs("stopping");
  await second.kill();
});

test("SIGTERM reaches workers in all states, and a second one changes nothing", async () => {
  const [old, second] = await Supervisor.start(2);
  old.do("resist");
  supervisor.child.kill("SIGHUP");
  await until(() => old.signals.includes("SIGUSR2"));
  supervisor.behave = wait;
  await second.kill();
  const starting = await supervisor.started(3);
  supervisor.child.kill("SIGTERM");
  await until(() => old.signals.includes("SIGTERM"));
  supervisor.child.kill("SIGINT");
  await until(() => supervisor.running.length === 1);
  expect(starting.signals).toEqual(["SIGTERM"]);
  old.do("exit", "0");
  await supervisor.stop();
  expect(supervisor.events("stopping")).toHaveLength(1);
  expect(old.signals).toEqual(["SIGUSR2", "SIGTERM"]);
});

test("while it waits for a worker to finish, it starts none and computes nothing", async () => {
  const [first, second] = await Supervisor.start(2);
  first.do("resist");
  await second.kill();
  await supervisor.logs("worker_exited"); // its successor would come in 100 ms
  supervisor.child.kill("SIGTERM");
  await until(() => first.signals.length > 0);
  const before = computedMs(supervisor.pid);
  await Bun.sleep(1500);
  expect(computedMs(supervisor.pid) - before).toBeLessThan(500);
  first.do("exit", "0");
  await supervisor.stop();
  expect(supervisor.workers).toHaveLength(2);
});

/** What a process has computed: the first field (Linux). */
function computedMs(pid: number): number {
  return Number(readIfThere(`/proc/${pid}/schedstat`).split(" ")[0]) / 1e6;
}

test("SIGTERM is not lost on a worker whose program has not begun yet", async () => {
  const folders = Array.from({ length: 30_000 }, () => "/a").join(delimiter); // are looked for it first
  const PATH = `${folders}${delimiter}${dirname(String(Bun.which("bun")))}`;
  supervisor = new Supervisor(1, { env: { PATH }, behave: wait });
  await until(() => supervisor.processes > 0);
  await supervisor.stop();
  expect(supervisor.workers.filter(({ signals }) => signals.length === 0)).toEqual([]);
});

test("when the supervisor is killed, its workers hear of it", async () => {
  const workers = await Supervisor.start(2);
  supervisor.child.kill("SIGKILL");
  await supervisor.ended;
  await until(() => workers.every(({ hasEnded }) => hasEnded));
});

test.skipIf(!process.env.TEST_LONG)(
  "a first worker that hangs before it is ready has not started (in long runs only)",
  async () => {
    supervisor = new Supervisor(2, { behave: (worker) => worker.listen().do("hush") });
    expect(await supervisor.ended).toBe(1);
    expect(supervisor.stderr).toBe(
      "Cannot start: the first worker exited with SIGKILL before it was ready\n",
    );
  },
);

test.skipIf(!process.env.TEST_LONG)(
  "workers that do not end or start in time are killed (in long runs only)",
  async () => {
    const [old] = await Supervisor.start(1);
    old.do("resist");
    supervisor.child.kill("SIGHUP");
    await supervisor.logs("worker_replaced"); // after 10 seconds
    expect(old.signals).toEqual(["SIGUSR2"]);
    supervisor.behave = wait;
    supervisor.child.kill("SIGHUP");
    const candidate = await supervisor.started(2);
    await supervisor.logs("worker_replacement_failed"); // after 15
    expect([candidate.hasEnded, candidate.signals]).toEqual([true, []]);
    supervisor.behave = supervisor.serve;
    const [last] = await supervisor.whole();
    last.do("resist");
    await supervisor.stop();
    expect(last.signals).toEqual(["SIGTERM"]);
  },
);

test(`after random faults there is one worker in each slot (seed ${testSeed})`, async () => {
  const random = new Random();
  await Supervisor.start(3);
  const any = () => random.pick(supervisor.running);
  const faults: (() => unknown)[] = [
    () => any().signal("SIGKILL"),
    () => any().signal("SIGSTOP"),
    () => any().signal("SIGTERM"),
    () => any().do("hush"),
    () => any().do("hangUp"),
    () => any().do("exit", String(random.below(256))),
    () => any().say('"replace"'),
    () => any().say(random.pick(nonsense.filter((line) => !line.startsWith('"listens')))),
    () => supervisor.child.kill("SIGHUP"),
    () => supervisor.child.kill("SIGHUP"),
    () => supervisor.child.kill("SIGSTOP"),
    () => supervisor.child.kill("SIGCONT"),
  ];
  supervisor.behave = (worker) => {
    if (random.below(3) > 0) return supervisor.serve(worker);
    if (random.below(2) > 0) worker.do("report");
    random.pick([() => worker.do("exit", "1"), () => worker.do("hush"), () => worker.signal("SIGSTOP")])();
  };
  for (let draw = drawsOf({ usual: 60, long: 600 }); draw > 0; draw--) {
    if (supervisor.running.length > 0) random.pick(faults)();
    await Bun.sleep(random.below(150));
  }
  supervisor.behave = supervisor.serve;
  supervisor.child.kill("SIGCONT");
  await supervisor.whole();
  supervisor.child.kill("SIGHUP");
  const before = pidsOf(supervisor.running);
  await until(() => supervisor.running.every(({ pid, listens }) => listens && !before.includes(pid)));
  await supervisor.whole();
});
