import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Line } from "./catalogue.ts";

const writer = join(import.meta.dirname, "../../../writer/bin/writer");
const hour = 3_600_000;

/** A database that the real writer filled, and what it does to it. */
export class Database {
  readonly #folder = mkdtempSync(join(tmpdir(), "trendvault-browser-"));
  readonly path = join(this.#folder, "trendvault.db");

  /** With a list of an hour ago and one of now, each made of what was counted until then. */
  constructor(lines: readonly Line[], now: number) {
    const isEarlier = ({ observed_at }: Line) => Date.parse(observed_at) <= now - hour;
    this.run("migrate");
    this.ingest(lines.filter(isEarlier));
    this.run("rank", "--at", new Date(now - hour).toISOString().replace(/\.\d+Z$/, "Z"));
    this.ingest(lines.filter((line) => !isEarlier(line)));
    this.run("rank");
  }

  ingest(lines: readonly object[]): void {
    this.#write(["ingest", "-"], lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  /** Runs a command of the writer. */
  run(...words: string[]): void {
    this.#write(words, "");
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #write(words: readonly string[], input: string): void {
    execFileSync(writer, [...words, "--db", this.path], { input, stdio: ["pipe", "ignore", "pipe"] });
  }
}
