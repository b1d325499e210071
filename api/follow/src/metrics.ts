import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { Counter, Gauge, Registry } from "@prometheus-io/client";

const gauges = {
  generation: "The newest generation of the store in the file.",
  published_timestamp_seconds: "When its pointer was signed.",
  adopted_timestamp_seconds: "When it was put into the file.",
  lag_seconds: "From signing the newest generation until it was in the file.",
  build_seconds: "What downloading, checking and adding it took.",
  read_timestamp_seconds: "When the store's pointer was read last.",
  failing: "1 while the store cannot be followed, for any reason.",
  clock_difference_seconds: "How far the store's clock is ahead of this machine's.",
};

const counters = {
  adopted_total: "Generations that were put into the file.",
  failures_total: "What was not taken, by reason.",
  requests_total: "Requests to the store.",
  received_bytes_total: "Bytes of objects that were read.",
};

type Labels = { store: string; reason?: string };

/** What Prometheus' node exporter reads from a file (textfile collector). */
export class Metrics {
  readonly #registry = new Registry();

  set(name: keyof typeof gauges, labels: Labels, value: number): void {
    this.#find(name, (options) => new Gauge({ ...options, help: gauges[name] })).set(labels, value);
  }

  add(name: keyof typeof counters, labels: Labels, value = 1): void {
    this.#find(name, (options) => new Counter({ ...options, help: counters[name] })).inc(labels, value);
  }

  /** The text format of Prometheus, of what was counted so far. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Replaces a file as a whole, for every user to read. @throws Error of the file system */
  async write(path: string): Promise<void> {
    writeFileSync(`${path}.new`, await this.text());
    chmodSync(`${path}.new`, 0o644); // whatever the umask: another user's program reads it
    renameSync(`${path}.new`, path);
  }

  #find<M>(name: string, create: (options: Options) => M): M {
    const fullName = `trendvault_follow_${name}`;
    const known = this.#registry.getSingleMetric(fullName) as M | undefined;
    const labelNames = name === "failures_total" ? ["store", "reason"] : ["store"];
    return known ?? create({ name: fullName, labelNames, registers: [this.#registry] });
  }
}

type Options = { name: string; labelNames: string[]; registers: Registry[] };
