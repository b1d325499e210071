import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { newFolder } from "@trendvault/kit/machine";
import type { BrowserContext, Route } from "playwright-core";

const client = join(import.meta.dirname, "../../../web/client");
const folder = newFolder("packed");
process.once("exit", () => rmSync(folder, { recursive: true }));

/** The address that the examples of web/client/README.md name. */
export const exampleAddress = "https://trending.example.com";
const installed = join(folder, "node_modules/@trendvault/client");
const types: Record<string, string> = { ".js": "text/javascript", ".json": "application/json" };

let isPacked = false;

/** Installs @trendvault/client from its tarball, once. */
function pack(): void {
  if (!isPacked) execFileSync("bun", ["run", "install-packed", folder], { cwd: client, stdio: "ignore" });
  isPacked = true;
}

/** The examples of its README in a language. */
export function readmeExamples(language: string): string[] {
  const text = readFileSync(join(client, "README.md"), "utf8");
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, code = ""]) => code,
  );
}

/** A program that imports the package, as a bundler makes it for browsers. */
export function bundle(name: string, code: string): string {
  pack();
  const [source, made] = [join(folder, name), join(folder, `${name}.bundle.js`)];
  writeFileSync(source, code);
  const define = ["process.env.NODE_ENV", "__VUE_OPTIONS_API__", "__VUE_PROD_DEVTOOLS__"].map(
    (key) => `--define=${key}=${key.startsWith("process") ? '"production"' : "true"}`,
  );
  execFileSync("bun", ["build", source, `--outfile=${made}`, "--target=browser", "--minify", ...define], {
    stdio: "ignore",
  });
  return readFileSync(made, "utf8");
}

/**
 * Answers for the site that the examples name: files of the tarball at /assets/ and /package/, the rest by an edge.
 * `change` may replace the bytes of an answer of the API.
 */
export async function serveExamples(
  context: BrowserContext,
  { edge, change = (body) => body }: { edge: string; change?: (body: Buffer) => Buffer },
): Promise<void> {
  pack();
  const sendFile = (route: Route, path: string) => {
    const headers = {
      "content-type": types[extname(path)] ?? "text/plain",
      "access-control-allow-origin": "*",
    };
    return existsSync(path) ? route.fulfill({ headers, path }) : route.fulfill({ status: 404 });
  };
  await context.route(`${exampleAddress}/**`, async (route) => {
    const { pathname, search } = new URL(route.request().url());
    if (pathname.startsWith("/assets/"))
      return sendFile(route, join(installed, "dist/script", pathname.slice(8)));
    if (pathname.startsWith("/package/"))
      return sendFile(route, join(folder, "node_modules", pathname.slice(9)));
    const response = await route.fetch({ url: edge + pathname + search });
    const body = await response.body();
    await route.fulfill({ response, body: pathname.startsWith("/api/") ? change(body) : body });
  });
}

/** Where a page finds the package's modules, without a bundler. */
export const importMap = JSON.stringify({
  imports: {
    "@trendvault/client": `${exampleAddress}/package/@trendvault/client/dist/index.js`,
    "@trendvault/client/verify": `${exampleAddress}/package/@trendvault/client/dist/verify.js`,
    "structured-headers": `${exampleAddress}/package/structured-headers/dist/index.js`,
  },
});
