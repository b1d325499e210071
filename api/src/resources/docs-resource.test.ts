import { afterEach, beforeEach, expect, test } from "bun:test";
import { docsPolicy } from "@trendvault/contract/page";
import { DatabaseBuilder } from "../../test-support/database-builder.ts";
import { openTestOrigin, type TestOrigin } from "../../test-support/test-origin.ts";

let builder: DatabaseBuilder;
let origin: TestOrigin;

beforeEach(async () => {
  builder = new DatabaseBuilder();
  builder.publish([]);
  origin = await openTestOrigin(builder.path);
});
afterEach(() => {
  origin.watcher.close();
  builder.remove();
});

test("the reference of the API is a signed page with a policy of its own", async () => {
  const { status, headers } = await origin.ask("/docs");
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(headers.get("content-security-policy")).toBe(`${docsPolicy}; frame-ancestors 'none'`);
  expect(headers.get("signature")).toStartWith("tv=:");
  expect((await origin.ask("/docs?url=https://other.example")).status).toBe(400);
});

test("what is too large to be compressed well in a moment is compressed once", async () => {
  const html = await (await origin.ask("/docs")).text();
  const [script = ""] = /\/assets\/swagger-ui-bundle-\w+\.js/.exec(html) ?? [];
  for (const [path, tag] of [
    [script, /-br"$/],
    ["/docs", /-br-fast"$/],
  ] as const) {
    const { headers } = await origin.ask(path, { headers: { "accept-encoding": "br" } });
    expect(headers.get("etag")).toMatch(tag);
  }
});

test("the reference loads nothing but assets that are there, of which none names a map or is inline", async () => {
  const html = await (await origin.ask("/docs")).text();
  const paths = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? "");
  expect(paths.filter((path) => !path.startsWith("/assets/"))).toEqual(["/openapi.json"]);
  expect(paths.length).toBe(5);
  for (const path of paths) {
    const asset = await origin.ask(path);
    expect([path, asset.status]).toEqual([path, 200]);
    expect(await asset.text()).not.toContain("sourceMappingURL=");
  }
  expect(html).not.toMatch(/<style|<script>| style=| on\w+=/);
});
