/** A span as a collector gets it (OTLP/HTTP, JSON). */
export type ReceivedSpan = {
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
export class TraceCollector {
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
export function attributeOf({ attributes }: ReceivedSpan, name: string): string | undefined {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : String(Object.values(value)[0]);
}
