import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:net";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// What tests take of the machine: ports, folders, programs, a small disk. It runs in Node and in Bun. However the process
// of the tests ends, its programs end with it, and its folder goes.

/** The root of the repository. */
export const root = resolve(import.meta.dirname, "../..");
/** The program of the writer. */
export const writerProgram = join(root, "writer/bin/writer");

// Below the ports that the system gives to connections (32768 and above in Linux, 49152 elsewhere): what is free now is
// taken by nobody who did not ask for it, also while a program that is killed and started again is away.
const [firstPort, ports] = [10_240, 22_000];
const claims: Socket[] = [];

/**
 * A port that nothing listens on at the moment, and that nobody else gets from here before this process has ended: it keeps
 * the UDP socket of that number, which no program under test wants.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * ports);
    const [claim, server] = [createSocket("udp4").unref(), createServer()];
    try {
      claim.bind(port, "127.0.0.1");
      await once(claim, "listening");
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    } catch {
      continue; // it was given before, or another program listens there
    }
    claims.push(claim);
    server.close();
    await once(server, "close");
    return port;
  }
}

const longestWaitMs = 600_000; // only a fault takes so long, however busy the machine is

/** Waits for something outside of this process that gives no event. @throws Error after ten minutes */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + longestWaitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Timeout after ten minutes, waiting for: ${condition}`);
    await sleep(10);
  }
}

type Warden = { folder: string; tell: (line: string) => void };

let started: Warden | undefined;

// Reads "+ GROUP" when a program is started and "- GROUP" when it has ended; its input ends with our process.
const wardenScript = `
while read -r verb group; do
  case $verb in
    +) groups="$groups $group " ;;
    -) groups="\${groups%% $group *}\${groups#* $group }" ;;
  esac
done
runs() { for group in $groups; do kill -0 "-$group" && return; done; return 1; }
for group in $groups; do kill -TERM "-$group"; done
for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do runs && sleep 1; done
for group in $groups; do kill -KILL "-$group"; done
for file in $(grep -lszxF "TMPDIR=$1" /proc/[0-9]*/environ); do file=\${file%/environ}; kill -KILL "\${file#/proc/}"; done
umount -l $(grep -o " $1/[^ ]*" /proc/self/mounts)
rm -rf -- "$1"
`;

/**
 * A shell that outlives this process, ends what it has started, and removes the folder of all that its tests write. It
 * has no TMPDIR: a warden of a test's process would be ended by that of bin/test before it is done.
 */
function warden(): Warden {
  if (started !== undefined) return started;
  const folder = makeTestFolder(tmpdir());
  const stdio: ["pipe", "ignore", "ignore"] = ["pipe", "ignore", "ignore"];
  const env = { PATH: process.env.PATH };
  const shell = spawn("sh", ["-c", wardenScript, "sh", folder], { stdio, env, detached: true });
  shell.unref();
  (shell.stdin as { unref?: () => void }).unref?.();
  process.env.TMPDIR = folder; // what libraries write and start is found by it
  started = { folder, tell: (line) => void shell.stdin.write(`${line}\n`) };
  return started;
}

/** Makes a folder of this process in `parent`, and removes those of processes whose warden was killed, too, with small disks in them. */
function makeTestFolder(parent: string): string {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^trendvault-tests-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !isThere(Number(pid))) removeWithMounts(join(parent, name));
  }
  const folder = join(parent, `trendvault-tests-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function removeWithMounts(folder: string): void {
  const mounts = existsSync("/proc/self/mounts") ? readFileSync("/proc/self/mounts", "utf8") : "";
  const paths = [...mounts.matchAll(/^\S+ (\S+)/gm)].map(([, path = ""]) => path.replaceAll("\\040", " "));
  for (const path of paths.filter((path) => path.startsWith(`${folder}/`))) spawnSync("umount", ["-l", path]);
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // Its warden still ends what writes there, and removes it then.
    if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it is another user's
  }
}

/** The folder of all that the tests of this process write, which is gone when it has ended. Programs find it as TMPDIR. */
export function testFolder(): string {
  return warden().folder;
}

/** A new folder in it. */
export function newFolder(name: string): string {
  return mkdtempSync(join(warden().folder, `${name}-`));
}

/** Starts a program in a process group of its own, which ends with this process, however that ends. */
export function launch(command: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const { tell } = warden();
  const [program = "", ...words] = command;
  const child = spawn(program, words, { ...options, detached: true });
  const group = child.pid;
  if (group !== undefined) {
    tell(`+ ${group}`);
    child.once("exit", () => tell(`- ${group}`));
  }
  return child;
}

/** SIGKILL for a launched program and all that it has started. Resolves when it has ended. */
export async function killLaunched(child: ChildProcess): Promise<void> {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined) return;
  const ended = exitCode === null && signalCode === null ? once(child, "exit") : null;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // all of it has ended
  }
  await ended;
}

/** The exit code of a launched program, once it has ended: that of a shell, 128 more than a signal's number. */
export async function exitOf(child: ChildProcess): Promise<number> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode ?? 128 + constants.signals[child.signalCode ?? "SIGKILL"];
}

/** Of what has ended there is nothing, or a state (proc(5)): Z until somebody asks for its exit code, then X. */
export function isRunning(pid: number): boolean {
  return / \(.*\) [^ZX] /.test(readIfThere(`/proc/${pid}/stat`));
}

/** The text of a file of /proc; empty when the process has ended. */
export function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** `readyUrl` is what answers once the program is ready; without it, it is ready at once. */
type ProgramSpec = {
  name: string;
  command: string[];
  env: Record<string, string>;
  cwd: string;
  logPath: string;
  readyUrl?: string;
};

const readyMs = 600_000; // only a fault takes so long, however busy the machine is

/** A program that runs until it is killed, and may be started again. */
export class Program {
  readonly #spec: ProgramSpec;
  #child: ChildProcess | undefined;
  /** How often it ended by itself, which it never should. */
  ended: string[] = [];
  #isKilled = false;

  constructor(spec: ProgramSpec) {
    this.#spec = spec;
  }

  /** Starts it. @throws Error with the end of its log when it does not get ready */
  async start(): Promise<void> {
    const { command, env, cwd, logPath, readyUrl, name } = this.#spec;
    const log = openSync(logPath, "a");
    this.#isKilled = false;
    const child = launch(command, { env, cwd, stdio: ["ignore", log, log] });
    closeSync(log);
    this.#child = child;
    void exitOf(child).then((code) => {
      if (!this.#isKilled && this.#child === child) this.ended.push(`${name} ended with exit code ${code}`);
    });
    const deadline = Date.now() + readyMs;
    while (readyUrl !== undefined && !this.#isKilled && !(await answers(readyUrl))) {
      if (Date.now() > deadline || this.ended.length > 0) {
        await this.kill();
        throw new Error(`${name} is not ready: ${this.log()}`);
      }
      await sleep(30);
    }
  }

  /** Of the process itself; 0 before it was started. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** SIGKILL for it and all that it has started. */
  async kill(): Promise<void> {
    this.#isKilled = true;
    if (this.#child !== undefined) await killLaunched(this.#child);
  }

  /** The end of what it wrote. */
  log(): string {
    return readFileSync(this.#spec.logPath, "utf8").slice(-2000);
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(10_000) }).then(
    ({ status }) => status < 500,
    () => false,
  );
}

const blockBytes = 2 ** 22;

/** A disk of some megabytes. */
export class SmallDisk {
  readonly path = newFolder("disk");

  /** Null for a user who may not mount one. */
  static mount(megabytes: number): SmallDisk | null {
    const disk = new SmallDisk();
    const words = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk.path];
    return spawnSync("mount", words).status === 0 ? disk : null;
  }

  /**
   * Writes so much that these bytes are left, or fewer where others write meanwhile. It writes block by block, so that the
   * process goes on with what else it does, such as measuring response times.
   */
  async fillUpTo(left: number): Promise<void> {
    const { bavail, bsize } = statfsSync(this.path);
    const block = Buffer.alloc(blockBytes);
    const ballast = await open(join(this.path, "ballast"), "w");
    try {
      for (let rest = Math.floor(bavail * bsize - left); rest > 0; )
        rest -= (await ballast.write(block, 0, Math.min(rest, block.length))).bytesWritten;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      await ballast.close();
    }
  }

  empty(): void {
    rmSync(join(this.path, "ballast"), { force: true });
  }

  unmount(): void {
    spawnSync("umount", ["-l", this.path]);
  }
}

/** Why a test cannot mount a file for a process of its own, to end its name with; empty where it can. */
export function mountRefusal(): string {
  const words = ["--map-root-user", "--mount", "true"];
  return spawnSync("unshare", words).status === 0 ? "" : " (this user may not mount)";
}

/** What a script prints that is given two paths: the second is one where it alone finds the first file mounted, too. */
export function runWithMount(script: string, { file, mounted }: { file: string; mounted: string }): string {
  writeFileSync(mounted, "");
  const commands = 'mount --bind "$1" "$2" && exec "$0" -e "$3" "$1" "$2"';
  const words = ["--map-root-user", "--mount", "sh", "-c", commands, process.execPath, file, mounted, script];
  return spawnSync("unshare", words, { encoding: "utf8" }).stdout;
}
