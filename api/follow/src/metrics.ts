import { chmodSync, renameSync, writeFileSync } from "node:fs";

const prefix = "trendvault_follow_";

const descriptions = {
  generation: ["gauge", "The newest generation of the store in the file."],
  published_timestamp_seconds: ["gauge", "When its pointer was signed."],
  adopted_timestamp_seconds: ["gauge", "When it was put into the file."],
  lag_seconds: ["gauge", "From signing the newest generation until it was in the file."],
  build_seconds: ["gauge", "What downloading, checking and adding it took."],
  read_timestamp_seconds: ["gauge", "When the store's pointer was read last."],
  failing: ["gauge", "1 while the store cannot be followed, for any reason."],
  clock_difference_seconds: ["gauge", "How far the store's clock is ahead of this machine's."],
  adopted_total: ["counter", "Generations that were put into the file."],
  failures_total: ["counter", "What was not taken, by reason."],
  requests_total: ["counter", "Requests to the store."],
  received_bytes_total: ["counter", "Bytes of objects that were read."],
} as const;

type Name = keyof typeof descriptions;

/** What Prometheus' node exporter reads from a file (textfile collector). */
export class Metrics {
  readonly #values = new Map<Name, Map<string, number>>();

  set(name: Name, labels: Record<string, string>, value: number): void {
    this.#seriesOf(name).set(writeLabels(labels), value);
  }

  add(name: Name, labels: Record<string, string>, value = 1): void {
    const series = this.#seriesOf(name);
    const key = writeLabels(labels);
    series.set(key, (series.get(key) ?? 0) + value);
  }

  /** The text format of Prometheus, version 0.0.4. */
  text(): string {
    return [...this.#values]
      .map(([name, series]) => {
        const [type, help] = descriptions[name];
        const lines = [...series].map(([labels, value]) => `${prefix}${name}${labels} ${value}\n`);
        return `# HELP ${prefix}${name} ${help}\n# TYPE ${prefix}${name} ${type}\n${lines.join("")}`;
      })
      .join("");
  }

  /** Replaces a file as a whole, for every user to read. Throws what the file system throws. */
  write(path: string): void {
    writeFileSync(`${path}.new`, this.text());
    chmodSync(`${path}.new`, 0o644); // whatever the umask: another user's program reads it
    renameSync(`${path}.new`, path);
  }

  #seriesOf(name: Name): Map<string, number> {
    const series = this.#values.get(name) ?? new Map<string, number>();
    this.#values.set(name, series);
    return series;
  }
}

function writeLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${value.replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`))}"`,
  );
  return `{${pairs.join(",")}}`;
}
