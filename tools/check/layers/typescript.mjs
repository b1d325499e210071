import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Which folder may import which, as a configuration of dependency-cruiser. The layers of a root (folders or files) go
 * from top to bottom: a file imports its own entry and those of the layers below. Two entries of one layer do not
 * import each other. A folder covers what is in it, except what has an entry of its own; `.` covers all. Of other
 * roots it imports only what `mayImport` names. writer.php holds the writer's layers.
 */
const roots = [
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
    mayImport: ["web/client/src/view", "contract", "web/page/(manifest|(about|page)-view).ts"],
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
      ["sender-cells.ts"],
      ["document-signer.ts", "minute-counts.ts", "read-through.ts"],
      ["bundle-store.ts"],
      ["document-source.ts"],
      ["cache.ts", "publication-index.ts"],
      ["signed-answer.ts", "log.ts"],
      ["policy.ts", "single-flight.ts"],
    ],
    mayImport: ["contract"],
  },
  {
    root: "api/follow/src",
    layers: [
      ["main.ts", "verify-history.ts"],
      ["follower.ts", "follow-store.ts", "history.ts"],
      ["settings.ts", "local-file.ts"],
      ["generation-file.ts", "memory.ts"],
      ["stores.ts"],
      ["failure.ts", "metrics.ts"],
    ],
    mayImport: [
      "api/src/database/database-files.ts",
      "api/src/database/schema-version.ts",
      "api/src/key-files.ts",
      "api/src/log.ts",
      "contract",
    ],
  },
  { root: "contract", layers: [["."]], mayImport: [] },
  {
    root: "web/client/src",
    layers: [
      ["react.ts", "trendvault-list.ts", "vue.ts"],
      ["element.ts"],
      ["element/trendvault-list.ts"],
      ["element"],
      ["verify.ts"],
      ["index.ts", "report-impressions.ts"],
      ["problem-error.ts"],
      ["connection.ts", "view/explanation.ts"],
      ["view/list-view.ts", "view/locales/load-page.ts"],
      ["view/dom.ts", "view/locales/all.ts", "view/locales/load.ts"],
      ["view/nodes.ts", "view/locales"],
    ],
    mayImport: ["contract"],
  },
  {
    root: "web/page",
    layers: [
      ["build.ts", "documents"],
      ["about-view.ts", "embed.ts", "page.ts", "service-worker.ts"],
      ["offline.ts", "page-view.ts"],
      ["docs.ts", "manifest.ts"],
    ],
    mayImport: ["web/client/(src|locale-parts.ts)", "contract", "tools/release/notices.ts"],
  },
  { root: "tools/up", layers: [["."]], mayImport: ["contract", "api/src/signing.ts"] },
  { root: "tools/check", layers: [["."]], mayImport: ["tests/kit/machine.ts"] },
];

const anywhere = roots.map(({ root }) => `^${root}/`);
const test = "\\.test\\.ts$|/test-support/|^tests/kit/";

for (const { root, layers } of roots)
  for (const name of layers.flat())
    if (!existsSync(join(import.meta.dirname, "../../..", root, name)))
      throw new Error(`There is no ${root}/${name}: remove its entry`);

// biome-ignore lint/style/noDefaultExport: dependency-cruiser takes its configuration from the default export
export default {
  forbidden: [
    ...roots.flatMap(rulesOf),
    {
      name: "no cycle, of types neither",
      severity: "error",
      from: { path: anywhere },
      to: { circular: true },
    },
    {
      name: "only tests import tests",
      severity: "error",
      from: { path: anywhere, pathNot: `${test}|^tools/check/` }, // which runs them
      to: { path: test },
    },
    {
      name: "every import leads to a file or a package",
      severity: "error",
      from: { path: anywhere },
      to: { couldNotResolve: true, pathNot: "^(bun|cloudflare|node):" },
    },
  ],
  options: {
    parser: "swc", // it reads imports of types, and needs no older TypeScript; it cannot read `using`
    exclude: { path: "(^|/)(node_modules|dist)/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import"],
      extensions: [".ts", ".js"],
    },
  },
};

function rulesOf({ root, layers, mayImport }) {
  const names = layers.flat();
  const inRoot = `^${root}/`;
  const pattern = (name) => inRoot + patternOf(name, names);
  return [
    {
      name: `every file of ${root} is in a layer`,
      severity: "error",
      module: {
        path: `${inRoot}.*\\.ts$`,
        pathNot: [...names.map(pattern), test],
        numberOfDependentsLessThan: 100,
      },
      from: {},
    },
    {
      name: `outside of itself ${root} imports ${mayImport.join(", ") || "nothing"}`,
      severity: "error",
      from: { path: inRoot, pathNot: test },
      to: { path: "/.*\\.[jt]sx?$", pathNot: [inRoot, ...mayImport.map((path) => `^${path}`)] },
    },
    ...layers.flatMap((layer, at) =>
      layer.map((name) => ({
        name: `${root}: ${name} imports only what is below it`,
        severity: "error",
        from: { path: pattern(name) },
        to: {
          path: layers
            .slice(0, at + 1)
            .flat()
            .filter((other) => other !== name)
            .map(pattern),
        },
      })),
    ),
  ].filter(({ to }) => to?.path?.length !== 0);
}

/** Of the files of an entry: those of a folder but for what has an entry of its own, or a file and its test. */
function patternOf(name, names) {
  const inside = names.filter((other) => (name === "." ? other !== name : other.startsWith(`${name}/`)));
  const others = inside.map((other) => plainPattern(other));
  return (others.length > 0 ? `(?!${others.join("|")})` : "") + (name === "." ? "" : plainPattern(name));
}

function plainPattern(name) {
  return /\.ts$/.test(name) ? name.replace(/\.ts$/, "(\\.workerd)?(\\.test)?\\.ts$$") : `${name}/`;
}
