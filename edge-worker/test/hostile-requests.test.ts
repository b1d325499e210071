import { afterAll, beforeAll, expect, test } from "bun:test";
import { bundlePointerName } from "@trendvault/contract/pointer";
import { bundleKeySet, edgeSeed, objectsOf, type Rendered, renderBundle, stranger } from "./bundles.ts";
import { makeDatabase, type TestDatabase } from "./database.ts";
import { DataCentre, InProcessEdge, withFetch } from "./in-process-edge.ts";
import { MemoryBucket } from "./memory-bucket.ts";

const list = "/api/trending?region=DE";

let database: TestDatabase;
let rendered: Rendered;
beforeAll(() => {
  database = makeDatabase();
  database.publish();
  rendered = renderBundle(database.path);
}, 1_200_000);
afterAll(() => database.remove());

/** An edge without an origin, so many seconds after the bundle of generation 2 was signed. */
async function ask(targets: string[], { seconds = 20, bucket = new MemoryBucket() } = {}) {
  bucket.put(await objectsOf(rendered, { publishedAt: rendered.signedAt }));
  const bundles = { bucket, keySet: bundleKeySet, signingSeed: edgeSeed, timeoutSeconds: 60 };
  const dataCentre = new DataCentre();
  const options = { stored: [], fallback: null, hasOrigin: false, dataCentre, bundles };
  const edge = new InProcessEdge(options, () => rendered.signedAt + seconds);
  const answers: { status: number; headers: Headers; body: string }[] = [];
  const askAll = async () => {
    for (const target of targets) {
      const [status, fields, body] = JSON.parse(await edge.ask(target));
      answers.push({ status, headers: new Headers(fields), body });
    }
  };
  await withFetch(() => ({ status: 500, headers: [], body: "" }), askAll);
  return answers;
}

function createdOf({ headers }: { headers: Headers }): number {
  return Number(/created=(\d+)/.exec(headers.get("signature-input") ?? "")?.[1]);
}

test("a list that the edge makes of an old bundle is as old as the bundle, also for whoever verifies it", async () => {
  const [whole, made] = await ask([list, `${list}&limit=7`], { seconds: 3600 });
  if (whole === undefined || made === undefined) throw new Error("there are two answers");
  expect([whole.status, made.status]).toEqual([200, 200]);
  expect(createdOf(made)).toBe(createdOf(whole));
});

test("a list made of a bundle of the future is refused, as the bundle's own are", async () => {
  const statuses = (await ask([list, `${list}&limit=7`], { seconds: -3600 })).map(({ status }) => status);
  expect(statuses).toEqual([503, 503]);
});

test("cursors of an older generation whose pointer cannot be verified do not stop other requests", async () => {
  const bucket = new MemoryBucket();
  const foreign = await objectsOf({ ...rendered, generation: 1 }, { signer: stranger });
  bucket.put([...foreign].filter(([name]) => name === bundlePointerName(1)));
  const old = [24, 48, 72, 96, 120].map((rank) => `${list}&cursor=1-${rank}`);
  const answers = await ask([...old, list], { bucket });
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 200]);
});
