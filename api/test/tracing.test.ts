import { afterEach, beforeEach, expect, test } from "bun:test";
import { beginTrace, traceparentHeader } from "@trendvault/contract/http";
import { parseKeyRing } from "@trendvault/contract/keys";
import { EdgeSigner, edgeSignatureHeader } from "@trendvault/contract/request-signatures";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { Random } from "@trendvault/kit/random";

let builder: DatabaseBuilder;
let collector: TraceCollector;
let origin: OriginProcess | null = null;

beforeEach(() => {
  builder = new DatabaseBuilder();
  builder.publish([
    { region: "GB", videos: videos(60) },
    { region: "GB", category: "Music", videos: videos(3) },
  ]);
  collector = new TraceCollector();
});
afterEach(async () => {
  await origin?.remove();
  origin = null;
  await collector.stop();
  builder.remove();
});

const edgeKeys = `e1:${"B".repeat(43)}`;

async function start(env: Record<string, string>): Promise<string> {
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: "1", ...env };
  origin = await OriginProcess.start(builder.path, tracing);
  return origin.url.slice(0, -1);
}

/** Lets the origin stop, which sends what waits. */
async function spansAtTheEnd(): Promise<ReceivedSpan[]> {
  origin?.kill("SIGTERM");
  await origin?.ended;
  return collector.spans;
}

test("a request of the edge is a span of the edge's trace, with what was answered", async () => {
  const url = await start({ EDGE_KEYS: edgeKeys });
  const signature = await new EdgeSigner(parseKeyRing(edgeKeys)).sign(Date.now() / 1000);
  const [{ traceId, traceparent }, visitors] = [beginTrace(), beginTrace()];
  const signed = { [edgeSignatureHeader]: signature, [traceparentHeader]: traceparent };
  await fetch(`${url}/api/trending?limit=5&region=gb&category=Music`, { headers: signed });
  await fetch(`${url}/api/trending`, { headers: { [traceparentHeader]: visitors.traceparent } });
  const [first, second, ...others] = await spansAtTheEnd();
  if (first === undefined || second === undefined) throw new Error("The spans are missing");
  expect([first.traceId, first.name, first.kind, first.status.code]).toEqual([traceId, "GET", 2, 0]);
  expect(attributeOf(first, "url.path")).toBe("/api/trending");
  expect(attributeOf(first, "url.query")).toBe("region=GB&category=Music&limit=5");
  expect(attributeOf(first, "http.response.status_code")).toBe("200");
  const took = Number(BigInt(first.endTimeUnixNano) - BigInt(first.startTimeUnixNano));
  expect(took).toBeGreaterThan(0);
  expect(attributeOf(second, "http.response.status_code")).toBe("403");
  expect([second.traceId === visitors.traceId, others]).toEqual([false, []]);
  expect(collector.received).toContain('"trendvault-origin"');
});

const random = new Random();

test.each([
  ["an open origin", {}],
  ["one that only the edge may ask", { EDGE_KEYS: edgeKeys }],
])(`nothing that a visitor sends is in a span of %s (seed ${random.seed})`, async (_name, env) => {
  const url = await start(env);
  let count = 0;
  const secrets: string[] = [];
  const secret = () => {
    const text = `s${random.below(1e9)}x${count++}`;
    secrets.push(text);
    return text;
  };
  for (let draw = 0; draw < 100; draw++) {
    const target = random.pick([
      () => `/api/trending?region=GB&email=${secret()}`,
      () => `/api/trending?category=${secret()}`,
      () => `/api/trending?region=GB&limit=${1 + random.below(50)}`,
      () => `/api/videos/${secret()}`,
      () => `/api/videos/video${1 + random.below(60)}`,
      () => `/${secret()}?${secret()}`,
      () => "/api/export/GB.ndjson",
      () => "/healthz",
    ])();
    const { traceId, traceparent } = beginTrace();
    secrets.push(traceId);
    const headers = {
      ...{ "user-agent": secret(), cookie: secret(), referer: `https://${secret()}/`, baggage: secret() },
      ...{ "x-forwarded-for": secret(), "cf-connecting-ip": secret(), tracestate: `a=${secret()}` },
      [traceparentHeader]: traceparent,
    };
    await (await fetch(url + target, { method: random.pick(["GET", "HEAD", "POST"]), headers })).text();
  }
  expect((await spansAtTheEnd()).length).toBe(100);
  expect(secrets.filter((text) => collector.received.includes(text))).toEqual([]);
});

test("a collector that does not answer is said once, and requests are answered all the same", async () => {
  await collector.stop();
  const url = await start({ OTEL_EXPORTER_OTLP_TIMEOUT: "100" });
  expect((await fetch(`${url}/api/trending`)).status).toBe(200);
  await spansAtTheEnd();
  expect(origin?.lines.filter(({ event }) => event === "spans_not_exported").length).toBeLessThanOrEqual(1);
});

test("without a collector nothing of it is loaded", async () => {
  const { exited, stdout } = Bun.spawn(
    [
      process.execPath,
      "--no-env-file",
      "--print",
      `await import("${import.meta.dir}/../src/process/worker.ts"); Object.keys(require.cache).filter((path) => path.includes("opentelemetry")).length`,
    ],
    { stdout: "pipe" },
  );
  expect([(await stdout.text()).trim(), await exited]).toEqual(["0", 0]);
});

/** A span as a collector gets it (OTLP/HTTP, JSON). */
type ReceivedSpan = {
  traceId: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code: number };
  attributes: { key: string; value: Record<string, unknown> }[];
};

type ExportRequest = {
  resourceSpans: { resource: { attributes: unknown[] }; scopeSpans: { spans: ReceivedSpan[] }[] }[];
};

/** A collector for traces that keeps what it gets. */
class TraceCollector {
  readonly spans: ReceivedSpan[] = [];
  /** Everything that came: paths, header fields, bodies. */
  received = "";
  readonly #server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const body = await request.text();
      this.received += `${request.url}\n${JSON.stringify([...request.headers])}\n${body}\n`;
      for (const { scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans) {
        for (const { spans } of scopeSpans) this.spans.push(...spans);
      }
      return Response.json({});
    },
  });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }
}

/** An attribute of a span, as text; undefined without it. */
function attributeOf({ attributes }: ReceivedSpan, name: string): string | undefined {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : String(Object.values(value)[0]);
}
