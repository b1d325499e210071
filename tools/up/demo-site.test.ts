import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { XMLValidator } from "fast-xml-parser";
import { serveDemoSite } from "./demo-site.ts";

const site = serveDemoSite("127.0.0.1", 0);
afterAll(() => site.stop(true));

const get = (path: string) => fetch(site.url + path);

test("every category of the demo has pictures, as SVG that is well-formed", async () => {
  for (const category of categories()) {
    const response = await get(`${category}/GJ5N-98zdlw/hq.webp`);
    expect([category, response.status]).toEqual([category, 200]);
    expect(response.headers.get("content-type")).toBe("image/svg+xml");
    expect(XMLValidator.validate(await response.text())).toBe(true);
  }
});

test("a video's picture is the same each time, in two sizes, and another video's is another one", async () => {
  const text = async (path: string) => (await get(path)).text();
  const [large, again] = [await text("music/a/hq.webp"), await text("music/a/hq.webp")];
  expect(large).toBe(again);
  expect(large).toContain('width="640" height="360"');
  expect(await text("music/a/sd.webp")).toBe(
    large.replace('width="640" height="360"', 'width="320" height="180"'),
  );
  expect(await text("music/b/hq.webp")).not.toBe(large);
});

test("a video has a page, which may run nothing", async () => {
  const { status, headers } = await get("watch/GJ5N-98zdlw");
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(headers.get("content-security-policy")).toStartWith("default-src 'none';");
});

test("numbers in a picture have a few decimals", async () => {
  for (const category of categories()) {
    const picture = await (await get(`${category}/x/hq.webp`)).text();
    expect(picture).not.toMatch(/NaN|undefined|Infinity|\d\.\d{3}/);
  }
});

test.each([
  "",
  "music",
  "music/a",
  "music/a/xl.webp",
  "toString/a/hq.webp",
  "music/%3Cb%3E/hq.webp",
  "../music/a/hq.webp/x",
])("nothing is at /%s", async (path) => {
  expect((await get(path)).status).toBe(404);
});

/** As the demo source writes them into the address of a picture. */
function categories(): string[] {
  const folder = join(import.meta.dir, "../../writer/src/Demo/languages");
  const names = readdirSync(folder).flatMap((file) =>
    Object.keys((JSON.parse(readFileSync(join(folder, file), "utf8")) as { titles: object }).titles),
  );
  return [...new Set(names)].map((name) => name.toLowerCase().replace(/[^a-z]+/g, "-"));
}
