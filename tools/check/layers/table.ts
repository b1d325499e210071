/**
 * Which folder may import which. Layers go from top to bottom: a file imports its own entry and those of the
 * layers below. Two entries of one layer do not import each other.
 */
export type SourceRoot = {
  /** The folder, from the project's root. */
  root: string;
  /** Folders or files of `root`; a folder covers what is in it, except what has an entry of its own. `.` covers all. */
  layers: readonly (readonly string[])[];
  /** Other roots that it may import. */
  mayImport: readonly string[];
  /** Files of `root` that load others by a path that is known only when they run, which this check cannot follow. */
  mayLoad?: readonly string[];
};

export const table: readonly SourceRoot[] = [
  {
    root: "api/src",
    layers: [
      ["main.ts", "render.ts"],
      ["process", "bundle"],
      ["origin.ts"],
      ["http"],
      ["serving"],
      ["resources"],
      ["database"],
      ["signing.ts", "log.ts", "settings.ts"],
      ["key-files.ts"],
    ],
    mayImport: [
      "web/client/src/view",
      "contract",
      "web/page/about-view.ts",
      "web/page/docs-view.ts",
      "web/page/manifest.ts",
      "web/page/page-view.ts",
    ],
  },
  {
    root: "edge-worker/src",
    layers: [
      ["main.ts"],
      ["settings.ts", "respond-to-views.ts"],
      ["handle-request.ts"],
      ["count-views.ts"],
      ["bundles.ts", "view-shards.ts", "origin.ts"],
      ["bundle-source.ts", "view-counter.ts"],
      ["document-signer.ts", "minute-counts.ts", "read-through.ts"],
      ["bundle-store.ts"],
      ["document-source.ts"],
      ["cache.ts", "publication-index.ts"],
      ["signed-answer.ts", "single-flight.ts", "log.ts"],
      ["policy.ts"],
    ],
    mayImport: ["contract"],
  },
  {
    root: "api/follow/src",
    layers: [
      ["main.ts", "verify-history.ts"],
      ["follower.ts", "follow-store.ts", "history.ts"],
      ["settings.ts", "judge-pointer.ts", "local-file.ts"],
      ["generation-file.ts", "memory.ts"],
      ["stores.ts"],
      ["failure.ts", "metrics.ts"],
    ],
    mayImport: ["api/src/database/schema-version.ts", "api/src/key-files.ts", "api/src/log.ts", "contract"],
  },
  {
    root: "writer/src",
    layers: [
      ["main.php"],
      ["Application.php"],
      ["Commands"],
      ["Cli"],
      ["Backtest", "Explain", "Retention", "Simulation", "Status"],
      ["Backup"],
      ["Ingest", "Publication", "Pull"],
      ["Demo", "Ranking", "Sources/Edge", "Sources/PeerTube", "Sources/YouTube"],
      ["Sources", "Store"],
      ["Observations"],
      ["Cli/Context.php"], // a kind of source reads its own settings
      ["Cli/RegionSettings.php"],
      ["Cli/Settings.php"],
      ["Database"],
      ["Time", "WriterException.php", "libraries.php"],
    ],
    mayImport: [],
    mayLoad: ["main.php", "libraries.php"], // the autoloaders
  },
  { root: "contract", layers: [["."]], mayImport: [] },
  {
    root: "web/client/src",
    layers: [
      ["react.ts", "trendvault-list.ts", "vue.ts"],
      ["element.ts", "index.ts"],
      ["element/trendvault-list.ts"],
      ["element"],
      ["verify.ts"],
      ["tell-looks.ts", "trending.ts"],
      ["problem-error.ts"],
      ["connection.ts"],
      ["view/list-view.ts"],
      ["view/dom.ts", "view/locales/all.ts", "view/locales/load.ts"],
      ["view/nodes.ts", "view/locales"],
    ],
    mayImport: ["contract"],
  },
  {
    root: "web/page",
    layers: [
      ["about-view.ts", "build.ts", "docs.ts", "docs-view.ts", "page.ts", "service-worker.ts"],
      ["page-view.ts", "offline.ts"],
      ["manifest.ts"],
    ],
    mayImport: ["web/client/src", "contract"],
  },
  {
    root: "tools/up",
    layers: [
      ["main.ts"],
      ["up.ts"],
      ["settings.ts", "visitors.ts"],
      ["services.ts"],
      ["database.ts", "demo-site.ts", "options.ts"],
    ],
    mayImport: ["contract", "api/src/signing.ts"],
  },
  {
    root: "tools/check",
    layers: [
      ["layers"],
      ["main.ts"],
      ["junit-with-hooks.ts", "report.ts"],
      ["run-suite.ts"],
      ["suites.ts", "count-house.ts"],
    ],
    mayImport: [],
  },
];
