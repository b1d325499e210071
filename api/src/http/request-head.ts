import { edgeSignatureHeader } from "@trendvault/contract/request-signatures";

/** What is read of a request: of all else nothing is looked at, and nothing is kept after the answer. */
export type RequestHead = {
  method: string;
  /** Path and query as they were received, from the first slash. */
  target: string;
  /** The values of fields; of several with one name, all with commas between them. Null: there is none. */
  edgeSignature: string | null;
  accept: string | null;
  acceptEncoding: string | null;
  acceptLanguage: string | null;
  ifNoneMatch: string | null;
  traceparent: string | null;
};

/** A request head as it came over a connection. */
export class ReceivedHead implements RequestHead {
  readonly method: string;
  readonly target: string;
  edgeSignature: string | null = null;
  acceptEncoding: string | null = null;
  ifNoneMatch: string | null = null;
  /** Whether nothing that follows on the connection is read: it may be a body, or the client wants no more. */
  isLast: boolean;
  /** What came after it. */
  rest = "";
  hasHost = false;
  /** Bytes; Infinity when its end is in itself. */
  bodyLength: number | null = null;
  readonly #text: string;

  constructor(method: string, target: string, isLast: boolean, text = "") {
    this.method = method;
    this.target = target;
    this.isLast = isLast;
    this.#text = text;
  }

  // Few answers depend on these: they are looked for in the whole head, and only when somebody asks.
  get accept(): string | null {
    return valuesOf(this.#text, acceptField);
  }

  get acceptLanguage(): string | null {
    return valuesOf(this.#text, languageField);
  }

  get traceparent(): string | null {
    return valuesOf(this.#text, traceField);
  }
}

/** Why a request is answered before anybody reads what it asks for; the connection is closed then. */
type BadHead = { status: 400 | 408 | 414 | 431 | 505; sentence: string };

const longestHead = 16_384; // bytes: request line and fields; Node.js takes as many

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const visible = '[!"$-~]'; // in a target; a fragment is for the client only
const requestLine = `(${token}) (${visible}+) HTTP/([0-9])\\.([0-9])`;
const line = "[\\t\\x20-\\x7e\\x80-\\xff]*";

// A request line and fields, to the empty line after them (RFC 9112, sections 2 to 5), in bytes read as Latin-1: lines
// end with CR LF, no field is folded, nothing is between a field's name and its colon. It matches in linear time.
const shape = new RegExp(`^${requestLine}\\r\\n(?:${token}:${line}\\r\\n)*\\r\\n$`);

// The fields that are read of every request. Each name has another length; so no name is compared again.
const known = new RegExp(
  "\\r\\n(?:accept-encoding|connection|content-length|host|if-none-match|transfer-encoding" +
    `|${edgeSignatureHeader}):[^\\r]*`,
  "gi",
);
const acceptField = /\r\naccept:([^\r]*)/gi;
const languageField = /\r\naccept-language:([^\r]*)/gi;
const traceField = /\r\ntraceparent:([^\r]*)/gi;

/** The values of a field of a head, all with commas between them. */
function valuesOf(text: string, field: RegExp): string | null {
  let values: string | null = null;
  for (const [, value = ""] of text.matchAll(field))
    values = join(values, trimmedSlice(value, 0, value.length));
  return values;
}

/**
 * Reads the first request head of what came, one byte a character. Null: it is not whole yet; then call it again with more,
 * and with how much of it was `searched`. What RFC 9112 leaves to a server is refused here, for between two readings of one
 * request others are smuggled.
 */
export function readHead(text: string, searched = 0): ReceivedHead | BadHead | null {
  const whole = searched > 0 || text.length > longestHead ? null : readWhole(text); // mostly it is one, and no more
  return whole ?? readFirst(text, searched);
}

function readFirst(text: string, searched: number): ReceivedHead | BadHead | null {
  const start = text.startsWith("\r\n") ? 2 : 0; // section 2.2
  const found = text.indexOf("\r\n\r\n", Math.max(start, searched - 3)); // an end may be in both
  const end = found === -1 ? text.length : found + 4;
  const isTooLong = end - start > longestHead;
  if (found === -1 || isTooLong) {
    if (hasMistake(text.slice(start, start + longestHead), Math.max(0, searched - start))) return noHead;
    if (!isTooLong) return null;
    return text.slice(start, start + longestHead).includes("\r\n") ? tooLong : longTarget;
  }
  const head = readWhole(text.slice(start, end)) ?? noHead;
  if (head instanceof ReceivedHead) head.rest = text.slice(end);
  return head;
}

/** Whether no head begins like this, whatever follows: the same is found however it comes in pieces. */
function hasMistake(text: string, searched: number): boolean {
  never.lastIndex = Math.max(0, searched - 1);
  if (never.test(text)) return true;
  const end = text.indexOf("\r\n");
  return end !== -1 && end + 2 > searched && !wholeRequestLine.test(text.slice(0, end));
}

const never = /[^\t\r\n\x20-\x7e\x80-\xff]|\r[^\n]|(?<!\r)\n/g;
const wholeRequestLine = new RegExp(`^${requestLine}$`);

/** Null: it is no head, or more than one. Of what a match would give, no more is made than is needed: others pay for garbage. */
function readWhole(text: string): ReceivedHead | BadHead | null {
  if (!shape.test(text)) return null;
  const methodEnd = text.indexOf(" ");
  const targetEnd = text.indexOf(" ", methodEnd + 1);
  const major = text[targetEnd + 6] as string;
  const minor = text[targetEnd + 8] as string;
  if (major !== "1" || minor > "1") return { status: 505, sentence: "Expected HTTP/1.1 or HTTP/1.0." };
  const method = text.startsWith("GET ") ? "GET" : text.slice(0, methodEnd); // one text for all
  const asSent = text.slice(methodEnd + 1, targetEnd);
  const target = asSent.startsWith("/") ? asSent : pathOf(asSent, method);
  if (target === null) return bad("Expected a target that begins with a slash.");
  const head = new ReceivedHead(method, target, minor === "0", text);
  known.lastIndex = targetEnd;
  while (known.test(text)) {
    const end = known.lastIndex; // of the value
    const start = text.lastIndexOf("\n", end) + 1;
    const problem = take(head, text, start, text.indexOf(":", start), end);
    if (problem !== null) return problem;
  }
  if (!head.hasHost && minor === "1") return bad("Expected a field Host.");
  return head;
}

const noHead = bad("Expected a request line and fields as in RFC 9112, each with CR LF at its end.");
const longTarget: BadHead = {
  status: 414,
  sentence: `Expected a target of fewer than ${longestHead} bytes.`,
};
const tooLong: BadHead = {
  status: 431,
  sentence: `Expected a request line and fields of at most ${longestHead} bytes.`,
};

function bad(sentence: string): BadHead {
  return { status: 400, sentence };
}

// Absolute, as proxies get it, or of the whole server (RFC 9112, section 3.2). Of the authority nothing is read.
function pathOf(target: string, method: string): string | null {
  if (method === "CONNECT" || (method === "OPTIONS" && target === "*")) return "/";
  const start = absolute.exec(target)?.[0];
  if (start === undefined) return null;
  const rest = target.slice(start.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Takes a field, whose name is from `start` to `colon` in a text, and whose value is from there to `end`. */
function take(head: ReceivedHead, text: string, start: number, colon: number, end: number): BadHead | null {
  if (colon - start === 4) return takeHost(head, text, colon + 1);
  const value = trimmedSlice(text, colon + 1, end);
  switch (colon - start) {
    case 10:
      if (closeOption.test(value)) head.isLast = true;
      return null;
    case 13:
      head.ifNoneMatch = join(head.ifNoneMatch, value);
      return null;
    case 14:
      return takeLength(head, value);
    case 15:
      head.acceptEncoding = join(head.acceptEncoding, value);
      return null;
    case 16:
      head.edgeSignature = join(head.edgeSignature, value);
      return null;
    default:
      return takeTransferEncoding(head, value);
  }
}

function takeHost(head: ReceivedHead, text: string, from: number): BadHead | null {
  if (head.hasHost) return bad("Expected one field Host.");
  hostValue.lastIndex = from;
  if (!hostValue.test(text)) return bad("Expected a host and a port in the field Host.");
  head.hasHost = true;
  return null;
}

function takeLength(head: ReceivedHead, value: string): BadHead | null {
  if (head.bodyLength !== null || !/^[0-9]{1,15}$/.test(value)) return badLength;
  head.bodyLength = Number(value);
  if (head.bodyLength > 0) head.isLast = true;
  return null;
}

function takeTransferEncoding(head: ReceivedHead, value: string): BadHead | null {
  if (head.bodyLength !== null || !/^chunked$/i.test(value)) return badLength;
  head.bodyLength = Infinity;
  head.isLast = true;
  return null;
}

const badLength = bad("Expected one Content-Length, of digits, or one Transfer-Encoding, chunked.");
const host = "[A-Za-z0-9\\-._~!$&'()*+,;=:%[\\]]"; // RFC 3986, section 3.2.2, and a port
const hostValue = new RegExp(`[ \\t]*(?:${host}+[ \\t]*)?\\r`, "y");
const absolute = new RegExp(`^https?://${host}+(?=[/?]|$)`, "i"); // no user: RFC 9110, section 4.2.4
const closeOption = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

function join(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`;
}

/** Without the white space around it. */
function trimmedSlice(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(character: number): boolean {
  return character === 0x20 || character === 0x09;
}
