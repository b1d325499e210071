import { readFileSync } from "node:fs";
import { parseKeyRing } from "@trendvault/contract/keys";
import { windows } from "@trendvault/contract/lists";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { Random } from "@trendvault/contract/test-support/random";
import type { WatchedSystem } from "../../../tests/ops/test-support/watched-system.ts";
import { publishedRegions } from "../../../tests/store/test-support/publisher.ts";
import type { Mark } from "./draw-picture.ts";

const publishEverySeconds = 20;
const requestsPerSecond = 20;
const bundleEvery = 3; // generations
const paths = publishedRegions.flatMap((region) => [
  ...windows.map((window) => `/api/trending?region=${region}&window=${window}`),
  `/api/trending?region=${region}&limit=7`,
  `/feeds/${region}.json`,
  `/api/videos/${region}-1`,
]);

/** Lets the system live for a time: visitors ask, the writer publishes, and two things break. Gives when they did. */
export async function live(system: WatchedSystem, seconds: number): Promise<Mark[]> {
  const end = AbortSignal.timeout(seconds * 1000);
  const marks: Mark[] = [];
  const mark = (text: string) => marks.push({ at: Date.now() / 1000, text });
  const fail = async () => {
    await sleep(0.3 * seconds);
    mark("The store refuses its key");
    system.parts.store.proxy.rules.add({ kind: "status", status: 403, code: "AccessDenied" });
    await sleep(0.15 * seconds);
    system.parts.store.proxy.rules.clear();
    await sleep(0.25 * seconds);
    mark("The origin's workers are killed");
    for (const pid of system.workerPids()) process.kill(pid, "SIGKILL");
  };
  await Promise.all([ask(system, end), publish(system, end), fail()]);
  return marks;
}

async function ask(system: WatchedSystem, end: AbortSignal): Promise<void> {
  const random = new Random();
  const signer = new EdgeSigner(parseKeyRing(readFileSync(system.edgeKeys, "utf8")));
  while (!end.aborted) {
    const path = random.pick(paths);
    const fields = { [edgeSignatureHeader]: await signer.sign(Date.now() / 1000) };
    const [site, headers] = random.below(2) === 0 ? [system.parts.edgeUrl, {}] : [system.reader.url, fields];
    // What is broken meanwhile is seen in the metrics.
    const answer = await fetch(`${site}${path}`, { headers }).catch(() => null);
    await answer?.arrayBuffer().catch(() => null);
    await sleep(1 / requestsPerSecond);
  }
}

async function publish(system: WatchedSystem, end: AbortSignal): Promise<void> {
  for (let generation = 1; !end.aborted; generation++) {
    // It ends with 4 while the store refuses its key, which the dashboard shows.
    await system.parts.publisher.publish({ bundle: generation % bundleEvery === 0 });
    await sleep(publishEverySeconds);
  }
}

function sleep(seconds: number): Promise<void> {
  return Bun.sleep(seconds * 1000);
}
