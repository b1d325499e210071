import { engineOptions } from "./engine-options.ts";
import type { InspectorMessage } from "./messages.ts";

/** The process that looks at the database, as its supervisor sees it. */
export class InspectorProcess {
  readonly #child: Bun.Subprocess<"ignore", "inherit", "inherit">;

  /** Starts it. Of the settings it needs the database's path and the regions, as text. */
  constructor(
    { path, regions = "" }: { path: string; regions: string | undefined },
    onInspection: (inspection: InspectorMessage) => void,
  ) {
    const command = [process.execPath, "--smol", ...process.execArgv, Bun.main, "inspector", path];
    this.#child = Bun.spawn(command, {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...engineOptions(Bun.version), REGIONS_TABLE: regions },
      ipc: onInspection,
    });
  }

  get exited(): Promise<unknown> {
    return this.#child.exited;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
