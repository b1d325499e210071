import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { beginTrace, readTraceId } from "@trendvault/contract/http";
import type { RequestHead } from "../http/request-head.ts";
import { splitTarget } from "../http/routes.ts";
import type { Logger } from "../log.ts";
import type { Origin } from "../origin.ts";
import { type Answer, detached } from "../serving/answer.ts";

type Respond = Origin["answer"];
type Span = Parameters<OTLPTraceExporter["export"]>[0][number];

type Options = {
  /** The share of requests that have a span, up to 1. */
  ratio: number;
  /** Whether a request that is not refused comes from the edge, but for /healthz: then the span is of the edge's trace. */
  isGuarded: boolean;
  log: Logger;
};

const sendIntervalMs = 5000;
const mostWaiting = 2048; // spans; further ones are dropped
const stopTimeoutMs = 2000;

/**
 * Exports spans of requests by OTLP over HTTP; where to, OpenTelemetry's exporter reads from the environment
 * (OTEL_EXPORTER_OTLP_…). A span says what was answered, never who asked: no field of the request but the edge's trace,
 * and of the target only what the answer names as its own. This file is loaded only where spans are exported.
 */
export class RequestTracing {
  readonly #answer: Respond;
  readonly #options: Options;
  readonly #exporter = new OTLPTraceExporter();
  readonly #timer: NodeJS.Timeout;
  #waiting: Span[] = [];
  #hasFailed = false;

  constructor(answer: Respond, options: Options) {
    this.#answer = answer;
    this.#options = options;
    this.#timer = setInterval(() => this.#send(), sendIntervalMs);
  }

  /** Answers a request, and notes a span of some. */
  readonly answer: Respond = (request) => {
    if (Math.random() >= this.#options.ratio) return this.#answer(request);
    const [startedAt, started] = [Date.now(), performance.now()];
    const answer = this.#answer(request);
    const note = (made: Answer) =>
      this.#note(request, made, { startedAt, milliseconds: performance.now() - started });
    if (answer instanceof Promise) void answer.then(note, () => {});
    else note(answer);
    return answer;
  };

  /** Sends what waits, for two seconds at most. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#send();
    await Promise.race([this.#exporter.shutdown(), Bun.sleep(stopTimeoutMs)]);
  }

  #note(request: RequestHead, answer: Answer, time: Duration): void {
    if (this.#waiting.length >= mostWaiting) return;
    const isOfEdge = this.#options.isGuarded && answer.status !== 403 && !isHealth(request);
    const traceparent = isOfEdge ? request.traceparent : null;
    const own = beginTrace();
    const context = {
      traceId: readTraceId(traceparent && detached(traceparent)) ?? own.traceId,
      spanId: own.spanId,
      traceFlags: 1,
    };
    this.#waiting.push(describeSpan(context, describeAnswer(request, answer), time));
  }

  #send(): void {
    const spans = this.#waiting;
    this.#waiting = [];
    if (spans.length === 0) return;
    this.#exporter.export(spans, ({ code, error }) => this.#logChange(code !== 0, error));
  }

  #logChange(hasFailed: boolean, error?: Error): void {
    if (hasFailed && !this.#hasFailed) {
      const reason = error?.message ?? "unknown";
      this.#options.log("warning", "spans_not_exported", "The collector took no spans.", { reason });
    }
    this.#hasFailed = hasFailed;
  }
}

/** Unix time in milliseconds, and how long it took. */
type Duration = { startedAt: number; milliseconds: number };

type SpanContext = ReturnType<Span["spanContext"]>;

const serverKind = 1;
const [unset, failed] = [0, 2];
const resource = resourceFromAttributes({ "service.name": "trendvault-origin" });

// Attributes by OpenTelemetry's semantic conventions for HTTP.
function describeAnswer({ method }: RequestHead, { status, headers }: Answer): Span["attributes"] {
  const isKnown = method === "GET" || method === "HEAD" || method === "OPTIONS";
  const target = status === 200 || status === 304 ? headers.get("content-location") : null; // a 404's was typed
  const [path, query] = target?.split("?") ?? [];
  return {
    "http.request.method": isKnown ? method : "_OTHER",
    "http.response.status_code": status,
    "trendvault.is_built": headers.has("server-timing"),
    ...(path !== undefined && { "url.path": path }),
    ...(query !== undefined && { "url.query": query }),
  };
}

function describeSpan(
  context: SpanContext,
  attributes: Span["attributes"],
  { startedAt, milliseconds }: Duration,
): Span {
  return {
    name: String(attributes["http.request.method"]),
    kind: serverKind,
    spanContext: () => context,
    startTime: asTime(startedAt),
    endTime: asTime(startedAt + milliseconds),
    duration: asTime(milliseconds),
    status: { code: Number(attributes["http.response.status_code"]) >= 500 ? failed : unset },
    attributes,
    resource,
    instrumentationScope: { name: "trendvault" },
    ended: true,
    ...{ links: [], events: [] },
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
}

/** Seconds and nanoseconds. */
function asTime(milliseconds: number): [number, number] {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)];
}

/** Answered to anybody, whatever the guard says. */
function isHealth({ target }: RequestHead): boolean {
  return splitTarget(target).path === "/healthz";
}
