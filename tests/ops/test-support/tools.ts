import { existsSync } from "node:fs";
import { resolve } from "node:path";

const folder = resolve(import.meta.dir, "../../../.tools/bin");

/** Programs of Prometheus that `tools/setup/bring prometheus` brings. */
export type Tool = "prometheus" | "promtool" | "prometheus-node-exporter" | "prometheus-blackbox-exporter";

export function toolPath(tool: Tool): string {
  return resolve(folder, tool);
}

/** Why they are not here, or null. */
export function missingTools(): string | null {
  return existsSync(toolPath("promtool"))
    ? null
    : "Prometheus is not installed: `tools/setup/bring prometheus` says why it cannot be";
}

/** What it printed. @throws Error with that when it fails */
export async function run(tool: Tool, words: readonly string[], input = ""): Promise<string> {
  const child = Bun.spawn([toolPath(tool), ...words], {
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [printed, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${tool} ${words.join(" ")}:\n${printed}${said}`);
  return printed + said;
}
