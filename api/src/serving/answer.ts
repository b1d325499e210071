/** The same text by itself: what was cut from a longer one keeps all of that in memory, cookies and addresses too. */
export function detached(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

type Written = {
  /** Unix time in seconds, of the field Date. */
  second: number;
  isLast?: boolean;
  /** An answer to HEAD has the fields of the body and not the body. */
  hasBody?: boolean;
};

/** An answer of HTTP/1.1, whose bytes can be sent any number of times. */
export class Answer {
  readonly status: number;
  readonly headers: Headers;
  #body: Uint8Array<ArrayBuffer> | null;
  #kept: Uint8Array<ArrayBuffer>[] | null = null;
  #second = Number.NaN;

  /** `body`: null when the status has none. */
  constructor(
    status: number,
    headers: Headers | Record<string, string>,
    body: Uint8Array<ArrayBuffer> | string | null,
  ) {
    this.status = status;
    this.headers = new Headers(headers);
    this.#body = typeof body === "string" ? new TextEncoder().encode(body) : body;
  }

  get body(): Uint8Array<ArrayBuffer> | null {
    return this.#body;
  }

  /** The same with other values of some fields. */
  with(fields: Readonly<Record<string, string>>): Answer {
    const answer = new Answer(this.status, this.headers, this.#body);
    for (const [name, value] of Object.entries(fields)) answer.headers.set(name, value);
    return answer;
  }

  /** The same without some fields. */
  without(names: readonly string[]): Answer {
    const answer = this.with({});
    for (const name of names) answer.headers.delete(name);
    return answer;
  }

  /**
   * All bytes, with the Date of a second (Unix time), in one array or, when they are many, two: kept, and the same for all
   * who get them, until the call with another second. Its fields may not change after the first call.
   */
  bytesAt(second: number): readonly Uint8Array[] {
    if (this.#kept === null) this.#keep(second);
    const kept = this.#kept as Uint8Array[];
    if (second === this.#second) return kept;
    kept[0]?.set(dateOf(second), dateAt(this.status));
    this.#second = second;
    return kept;
  }

  /** All bytes, for once. */
  write({ second, isLast = false, hasBody = true }: Written): Uint8Array<ArrayBuffer>[] {
    const body = this.#body;
    const length = body === null ? "" : `content-length: ${body.length}\r\n`;
    let head = `${statusLineOf(this.status)}date: ${dateTextOf(second)}\r\n${length}`;
    for (const [name, value] of this.headers) head += `${name}: ${value}\r\n`;
    if (isLast) head += "connection: close\r\n";
    const bytes = Buffer.from(`${head}\r\n`, "latin1");
    if (body === null || !hasBody) return [new Uint8Array(bytes)];
    if (body.length > longestInOne) return [new Uint8Array(bytes), body];
    const all = new Uint8Array(bytes.length + body.length);
    all.set(bytes);
    all.set(body, bytes.length);
    return [all];
  }

  #keep(second: number): void {
    this.#kept = this.write({ second });
    this.#second = second;
    const [all] = this.#kept;
    if (this.#body === null || this.#kept.length > 1 || all === undefined) return;
    this.#body = all.subarray(all.length - this.#body.length); // instead of a second copy
  }
}

// Longer bodies are shared with what they were made from, and cost a second system call.
const longestInOne = 65_536; // bytes

function statusLineOf(status: number): string {
  return `HTTP/1.1 ${status} ${reasons[status] ?? ""}\r\n`;
}

function dateAt(status: number): number {
  return statusLineOf(status).length + "date: ".length;
}

const reasons: Record<number, string> = {
  200: "OK",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  410: "Gone",
  414: "URI Too Long",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
};

let date = { second: Number.NaN, text: "", bytes: new Uint8Array() };

function dateTextOf(second: number): string {
  if (second !== date.second) {
    const text = new Date(second * 1000).toUTCString(); // IMF-fixdate (RFC 9110, section 5.6.7)
    date = { second, text, bytes: new TextEncoder().encode(text) };
  }
  return date.text;
}

function dateOf(second: number): Uint8Array {
  dateTextOf(second);
  return date.bytes;
}
