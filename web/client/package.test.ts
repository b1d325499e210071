import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { newFolder } from "@trendvault/kit/machine";
import { TestSigner } from "@trendvault/kit/signers";
import { publint } from "publint";
import { pageOf } from "./test-support/fake-server.ts";

/** A folder in which the package is installed from its tarball (package.tgz). */
async function packedPackage(): Promise<{ folder: string; remove: () => void }> {
  const folder = newFolder("packed");
  await Bun.$`bun run install-packed ${folder}`.cwd(import.meta.dir).quiet();
  mkdirSync(join(folder, "examples"));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

/** The examples of README.md in a language, with the address of a server in place of the one that they name. */
function readmeExamples(language: string, address: string): string[] {
  const text = readFileSync(join(import.meta.dir, "README.md"), "utf8");
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))];
  return blocks.map(([, code = ""]) => code.replaceAll("https://trending.example.com", address));
}

/** A server with a list of DE, signed as the origin signs. `tamper` changes what is sent after it was signed. */
async function signedServer() {
  const signer = await TestSigner.create();
  const state = { tamper: (body: string) => body };
  const server = Bun.serve({
    port: 0,
    fetch: async ({ url }) => {
      const { pathname, search, searchParams } = new URL(url);
      if (pathname === "/.well-known/jwks.json") return Response.json(signer.publicKeys);
      const offset = Number(searchParams.get("cursor")?.split("-")[1] ?? 0);
      const body = JSON.stringify(pageOf({ offset, count: 2, total: 6 }));
      const created = Math.floor(Date.now() / 1000);
      const fields = await signer.sign(body, { location: pathname + search, created });
      return new Response(state.tamper(body), { headers: fields });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, state, stop: () => server.stop(true) };
}

// What npm would publish: packed, installed and used as its users do.

const slowestMs = 1_200_000; // only a fault takes so long, on a busy machine
let packed: Awaited<ReturnType<typeof packedPackage>>;
let server: Awaited<ReturnType<typeof signedServer>>;
beforeAll(async () => {
  [packed, server] = await Promise.all([packedPackage(), signedServer()]);
}, slowestMs);
afterAll(async () => {
  await server?.stop();
  packed?.remove();
});

/** What a program prints that imports the package, in a run time. */
async function run(runtime: string, code: string): Promise<string> {
  const file = join(packed.folder, "examples", `${Bun.randomUUIDv7()}.mjs`);
  await Bun.write(file, code);
  const { stdout, stderr } = await Bun.$`${runtime} ${file}`.cwd(packed.folder).quiet().nothrow();
  return `${stdout}${stderr}`.replace(/^.*ExperimentalWarning.*\n.*\n/gm, "");
}

/** The minified size of a program, compressed by gzip, in bytes. */
async function sizeOf(code: string, external: string[] = []): Promise<number> {
  const file = join(packed.folder, "examples", `${Bun.randomUUIDv7()}.mjs`);
  await Bun.write(file, code);
  const { outputs } = await Bun.build({ entrypoints: [file], minify: true, target: "browser", external });
  return gzipSync(new Uint8Array(await (outputs[0] as Blob).arrayBuffer()), { level: 9 }).length;
}

describe.each(["node", "bun"])("the packed package in %s", (runtime) => {
  const [list = "", all = "", verify = ""] = ["0", "1", "2"];
  const example = (index: string) => run(runtime, readmeExamples("js", server.url)[Number(index)] ?? "");

  test("the README's first example prints a list", async () => {
    expect(await example(list)).toMatch(/^1 .+\n2 .+\n$/);
  });

  test("the README's second example prints all pages", async () => {
    const lines = Array.from({ length: 6 }, (_, index) => `${index + 1} video-${index + 1}\n`);
    expect(await example(all)).toBe(lines.join(""));
  });

  test("the README's third example tells what is genuine from what was changed by a byte", async () => {
    expect(await example(verify)).toBe("2 genuine items\n");
    server.state.tamper = (body) => body.replace('"rank":1', '"rank":2');
    expect(await example(verify)).toBe("not genuine: digest-differs\n");
    server.state.tamper = (body) => body;
  });

  test("importing the element where there are no elements does nothing", async () => {
    const code = 'import { TrendvaultList } from "@trendvault/client/react"; console.log("fine");';
    expect(await run(runtime, code.replace("{ TrendvaultList } from ", ""))).toBe("fine\n");
  });
});

test("without verification it takes no more than 6 KB compressed, and what is not used is left out", async () => {
  const all = await sizeOf('import * as client from "@trendvault/client"; globalThis.client = client;');
  const one = await sizeOf(
    'import { isProblem } from "@trendvault/client"; globalThis.isProblem = isProblem;',
  );
  const none = await sizeOf('import "@trendvault/client"; import "@trendvault/client/verify";');
  console.log(`@trendvault/client: ${all} bytes, isProblem alone ${one} bytes, compressed by gzip`);
  expect(all).toBeLessThanOrEqual(6 * 1024);
  expect(one).toBeLessThan(600);
  expect(none).toBeLessThan(100);
});

test("it has no dependency at run time but one, which only verification imports", async () => {
  const { dependencies } = await Bun.file(
    join(packed.folder, "node_modules/@trendvault/client/package.json"),
  ).json();
  expect(Object.keys(dependencies)).toEqual(["structured-headers"]);
  const imports = async (entry: string) => {
    const code = `import * as all from "@trendvault/client${entry}"; globalThis.all = all;`;
    const file = join(packed.folder, "examples", `${Bun.randomUUIDv7()}.mjs`);
    await Bun.write(file, code);
    const { outputs } = await Bun.build({ entrypoints: [file], external: ["structured-headers"] });
    return (await (outputs[0] as Blob).text()).includes("structured-headers");
  };
  expect(await imports("")).toBe(false);
  expect(await imports("/impressions")).toBe(false);
  expect(await imports("/verify")).toBe(true);
});

test("publint and Are The Types Wrong find nothing", async () => {
  const tarball = await Bun.file(join(packed.folder, "package.tgz")).arrayBuffer();
  const { messages } = await publint({ pack: { tarball }, strict: true });
  expect(messages).toEqual([]);
  const attw = await Bun.$`bun run attw ${join(packed.folder, "package.tgz")}`
    .cwd(import.meta.dir)
    .quiet()
    .nothrow();
  expect([attw.exitCode, attw.exitCode === 0 ? "" : attw.stdout.toString()]).toEqual([0, ""]);
});

// Its types, as its users' compilers read them.

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
  slowestMs,
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
  slowestMs,
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
  slowestMs,
);
