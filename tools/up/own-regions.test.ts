import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RegionTable } from "@trendvault/contract/regions";
import { worldRegions } from "@trendvault/contract/test-support/world-regions";
import { freePort } from "../../edge-worker/test/free-port.ts";
import {
  fetchBuilt,
  type Series,
  sourceFile,
  start,
  stopAll,
  twoVideos,
} from "./test-support/running-stack.ts";

setDefaultTimeout(1_200_000); // real processes on a busy machine
afterEach(stopAll);

test("markets of one's own are those of the writer, the origin, the page and the edge", async () => {
  const source = twoVideos.map((video) => ({ ...video, region: "CA" }));
  const { ask, read } = await up(threeMarkets, source);
  expect((await read("/api/trending?region=ca")).items).toHaveLength(2);
  expect((await read("/api/trending")).region).toBe("US"); // nobody knows the country here
  expect((await read("/api/trending?region=GB")).detail).toBe("region: expected one of US, CA, JP");
  expect((await read("/api/regions")).regions.map(({ name }: { name: string }) => name)).toEqual([
    ...["United States", "Canada", "Japan"],
  ]);
  expect((await read("/feeds/CA.json")).language).toBe("fr");
  const { components } = await read("/openapi.json");
  expect(components.schemas.Region.enum).toEqual(["US", "CA", "JP"]);
  const page = await (await ask("/?region=CA")).text();
  expect(page).toContain('<html lang="fr">');
  expect(page).toContain('"languages":{"US":"en","CA":"fr","JP":"en"}');
  expect(page.match(/<option value="(..)"/g)).toHaveLength(3);
  expect(await (await ask("/?region=JP")).text()).toContain('<html lang="en">');
});

test("two hundred markets are up, each with its own list, page, feed and export", async () => {
  const table = worldRegions();
  const codes = table.regions.map(({ code }) => code);
  const source = codes.flatMap((region) =>
    twoVideos.map((video) => ({ ...video, id: `${region}-${video.id}`, region })),
  );
  const { ask, read } = await up(table, source);
  const { regions } = await read("/api/regions");
  const published = ({ code, generation }: { code: string; generation: number | null }) => [code, generation];
  expect(regions.map(published)).toEqual(codes.map((code) => [code, 1]));
  for (const [region, language] of [
    ...([
      ["AD", "en"],
      ["CH", "de"],
      ["MX", "es"],
      ["US", "en"],
      ["ZW", "en"],
    ] as const),
  ]) {
    const ids = [`${region}-rising`, `${region}-falling`];
    const { items } = await read(`/api/trending?region=${region}`);
    expect(items.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect((await read(`/api/trending?region=${region}&fields=chart`)).items[0].id).toBe(ids[0]); // the element's
    const feed = await read(`/feeds/${region}.json`);
    expect(feed.items[0]._trendvault.video).toBe(ids[0]);
    const [head = "", ...ranks] = (await (await ask(`/api/export/${region}.ndjson`)).text())
      .trim()
      .split("\n");
    expect(JSON.parse(head)).toMatchObject({ region, count: ranks.length });
    expect(JSON.parse(ranks[0] ?? "")).toMatchObject({ id: ids[0] });
    const page = await (await ask(`/?region=${region}`)).text();
    expect(page).toContain(`<html lang="${language}">`);
    expect(page).toContain(`<option value="${region}" selected`);
    expect(page.match(/<option value="(..)"/g)).toHaveLength(codes.length);
  }
  const { detail } = await read("/api/trending?region=GF"); // its visitors get FR
  expect(detail).toBe(`region: expected one of ${codes.join(", ")}`);
});

test("a file of markets with mistakes is refused before anything is started, with each of them", async () => {
  const regions = regionsFile({ ...threeMarkets, default: "GB", markets: 3 });
  const stack = start(["--regions", regions]);
  await stack.waitForOutput("markets: unknown, expected only $schema, default, regions");
  expect(await stack.exited).toBe(1);
});

const threeMarkets = {
  default: "US",
  regions: [
    { code: "US", name: "United States", languages: ["en"], countries: ["PR"] },
    { code: "CA", name: "Canada", languages: ["fr", "en"] },
    { code: "JP", name: "Japan", languages: ["ja"] },
  ],
};

/** Brings writer, origin and edge up with these markets: it says so only when all have the same. Asks the edge. */
async function up(table: RegionTable, source: Series[]) {
  const [port, edgePort] = [await freePort(), await freePort()];
  const ports = ["--port", String(port), "--edge-port", String(edgePort), "--visitors", "0"];
  const stack = start(["--source", sourceFile(source), "--regions", regionsFile(table), ...ports]);
  await stack.waitForOutput("TrendVault is up.");
  const ask = (path: string) => fetchBuilt(`http://127.0.0.1:${edgePort}${path}`);
  // biome-ignore lint/suspicious/noExplicitAny: each assertion says which form is expected
  const read = async (path: string): Promise<any> => (await ask(path)).json();
  return { ask, read };
}

function regionsFile(table: object): string {
  const path = join(mkdtempSync(join(tmpdir(), "trendvault-regions-")), "regions.json");
  writeFileSync(path, JSON.stringify(table));
  return path;
}
