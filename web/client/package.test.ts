import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { TestSigner } from "@trendvault/kit/signers";
import { publint } from "publint";
import { pageOf } from "./test-support/fake-server.ts";
import { packedPackage, readmeExamples } from "./test-support/packed-package.ts";

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

const packingMs = 1_200_000; // only a fault takes so long, on a busy machine
let packed: Awaited<ReturnType<typeof packedPackage>>;
let server: Awaited<ReturnType<typeof signedServer>>;
beforeAll(async () => {
  [packed, server] = await Promise.all([packedPackage(), signedServer()]);
}, packingMs);
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
