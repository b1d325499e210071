import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { packedPackage, readmeExamples } from "./test-support/packed-package.ts";

// The package's types as its users' compilers read them.

const slowMs = 1_200_000; // only a fault takes so long, on a busy machine
let packed: Awaited<ReturnType<typeof packedPackage>>;
beforeAll(async () => {
  packed = await packedPackage();
}, slowMs);
afterAll(() => packed?.remove());

const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [], target: "es2022" };
const lib = ["es2022", "dom", "dom.iterable", "dom.asynciterable"];

/** What TypeScript 5.9 finds in files. */
async function compile(files: Record<string, string>, options: object): Promise<string> {
  const folder = join(packed.folder, "examples", Bun.randomUUIDv7());
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  const config = { compilerOptions: { ...strict, lib, ...options }, include: ["."] };
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(import.meta.dir, "node_modules/typescript/bin/tsc");
  return (await Bun.$`node ${compiler} --project ${folder}`.quiet().nothrow()).stdout.toString();
}

const element = `
import "@trendvault/client/element";
const list = document.createElement("trendvault-list");
const shown: boolean = await list.loadNext();
list.addEventListener("trendvault-open", ({ detail }) => console.log(detail.rank.toFixed(), shown));
list.addEventListener("trendvault-failure", ({ detail: { state } }) => {
  if (state === "unverified") list.remove();
  // @ts-expect-error: no such state
  if (state === "none") list.remove();
});
`;

const functions = `
import { allItems, answerOf, isProblem, listTrending, readVideo, trending } from "@trendvault/client";
const page = await trending({ region: "DE", window: "now", limit: 5 });
const title: string | undefined = page.items[0]?.title;
for await (const { rank } of allItems({ region: "PL" })) void (rank satisfies number);
const chart = await trending({ region: "DE", fields: "chart" });
void (chart.items[0]?.sparkline satisfies (number | null)[] | undefined);
for await (const snippet of allItems({ region: "DE", fields: "snippet" })) {
  // @ts-expect-error: a snippet has no score
  void snippet.score;
}
// @ts-expect-error: no such region
await trending({ region: "XX" });
// @ts-expect-error: no such parameter
await trending({ page: 2 });
// @ts-expect-error: no such region
await listTrending({ query: { region: "XX" } });
const video = await answerOf(readVideo({ path: { id: title ?? "x" } }));
// @ts-expect-error: a rank is a number
const rank: string | undefined = video.trending[0]?.rank;
// @ts-expect-error: no such problem type
isProblem(rank, "/problems/none");
`;

const impressions = `
import { reportImpressions } from "@trendvault/client/impressions";
import { trending } from "@trendvault/client";
const list = await trending();
const elements = document.querySelectorAll("li");
`;

test(
  "the README's examples and the element compile, also where libraries are checked",
  async () => {
    const address = "https://trending.example.com";
    const [list = "", all = "", verify = ""] = readmeExamples("js", address);
    const [told = ""] = readmeExamples("ts", address);
    const files = { "list.mts": list, "all.mts": all, "verify.mts": verify, "element.mts": element };
    const options = { module: "nodenext", skipLibCheck: false };
    expect(
      await compile({ ...files, "functions.mts": functions, "impressions.mts": impressions + told }, options),
    ).toBe("");
  },
  slowMs,
);

const wrongInReact = `
import "@trendvault/client/react";
// @ts-expect-error: no such region
export const wrong = <trendvault-list region="XX" />;
`;
const reactDom = `declare module "react-dom/client" {
  export function createRoot(element: Element): { render(node: import("react").ReactNode): void };
}`;

test(
  "the README's example for React compiles, and wrong attributes do not",
  async () => {
    const [example = ""] = readmeExamples("tsx", "");
    const files = { "example.tsx": example, "wrong.tsx": wrongInReact, "react-dom.d.ts": reactDom };
    const options = { module: "preserve", jsx: "react-jsx", skipLibCheck: true };
    expect(await compile(files, options)).toBe("");
  },
  slowMs,
);

const vue = `
import "@trendvault/client/vue";
import type { GlobalComponents } from "vue";
type Props = InstanceType<GlobalComponents["TrendvaultList"]>["$props"];
export const right: Props = { src: "https://trending.example.com", region: "DE", limit: 5 };
// @ts-expect-error: no such region
export const wrong: Props = { region: "XX" };
`;

test(
  "Vue knows the element's attributes",
  async () => {
    expect(await compile({ "vue.ts": vue }, { module: "preserve", skipLibCheck: true })).toBe("");
  },
  slowMs,
);
