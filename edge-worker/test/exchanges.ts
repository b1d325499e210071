import type { Exchange } from "@trendvault/kit/keys";
import type { Random } from "@trendvault/kit/random";

/** Changes exchanges at random, as someone between origin and edge could. */
export class Tamperer {
  readonly #random: Random;
  readonly #genuine: readonly Exchange[];

  /** `genuine`: what can be taken from and mixed. */
  constructor(random: Random, genuine: readonly Exchange[]) {
    this.#random = random;
    this.#genuine = genuine;
  }

  /** The exchange after one to three changes. */
  change(exchange: Exchange): Exchange {
    let changed = exchange;
    for (let n = 1 + this.#random.below(3); n > 0; n--) changed = this.#random.pick(this.#changes)(changed);
    return changed;
  }

  readonly #changes: ((exchange: Exchange) => Exchange)[] = [
    () => this.#other(),
    (exchange) => ({ ...exchange, status: this.#random.pick(statuses) }),
    (exchange) => ({ ...exchange, body: this.#other().body }),
    (exchange) => ({ ...exchange, headers: this.#other().headers }),
    (exchange) => ({ ...exchange, body: this.#changeText(exchange.body) }),
    (exchange) => ({ ...exchange, ...this.#problem() }),
    (exchange) => ({ ...exchange, headers: [...exchange.headers, this.#hostileField()] }),
    (exchange) => this.#withField(exchange, this.#hostileField()),
    (exchange) => this.#withField(exchange, this.#random.pick(this.#other().headers)),
    (exchange) => ({ ...exchange, headers: exchange.headers.filter(() => this.#random.below(8) > 0) }),
    (exchange) => this.#changeField(exchange),
    (exchange) => this.#transplantSignature(exchange),
    (exchange) => this.#addSignature(exchange),
  ];

  #other(): Exchange {
    return this.#random.pick(this.#genuine);
  }

  #withField(exchange: Exchange, [name, value]: [string, string]): Exchange {
    return { ...exchange, headers: [...exchange.headers.filter(([other]) => other !== name), [name, value]] };
  }

  #changeField(exchange: Exchange): Exchange {
    if (exchange.headers.length === 0) return exchange;
    const [name, value] = this.#random.pick(exchange.headers);
    return this.#withField(exchange, [name, this.#changeText(value)]);
  }

  #hostileField(): [string, string] {
    return [this.#random.pick(fieldNames), this.#random.pick(hostileValues)];
  }

  #problem(): Exchange {
    const status = this.#random.pick([400, 404, 410, 429, 503]);
    const kind = this.#random.pick(["invalid-parameter", "not-found", "generation-gone", "busy", "x"]);
    const more = this.#random.pick([{}, { restart: "https://other.example/" }, { invalid: [] }, { x: "y" }]);
    const problem = { type: `/problems/${kind}`, title: "t", status, detail: "Read other.example", ...more };
    return {
      status,
      headers: [["content-type", "application/problem+json"]],
      body: JSON.stringify(problem),
    };
  }

  /** Another's signature, with or without the fields that it covers. */
  #transplantSignature(exchange: Exchange): Exchange {
    const names = this.#random.pick([
      ["signature"],
      ["signature", "signature-input"],
      ["signature", "signature-input", "content-location", "etag", "trendvault-cache-control"],
    ]);
    const fields = this.#other().headers.filter(([name]) => names.includes(name));
    return fields.reduce((changed, field) => this.#withField(changed, field), exchange);
  }

  /** One more signature beside the one that is there: a proxy may add it. */
  #addSignature(exchange: Exchange): Exchange {
    const label = this.#random.pick(["proxy", "tv", "a"]);
    const input = `${label}=("@status");created=${this.#random.below(2e9)};keyid="p"`;
    const signature = `${label}=:${btoa(String(this.#random.next()))}:`;
    const isFirst = this.#random.below(2) === 0;
    const join = (name: string, added: string): [string, string] => {
      const value = exchange.headers.find(([other]) => other === name)?.[1] ?? "";
      return [name, isFirst ? `${added},${value}` : `${value}, ${added}`];
    };
    const withInput = this.#withField(exchange, join("signature-input", input));
    return this.#withField(withInput, join("signature", signature));
  }

  #changeText(text: string): string {
    const at = this.#random.below(text.length + 1);
    const character = this.#random.pick([..."aZ09 ,;=:\"'<>/{}[]-\u00e9"]);
    return this.#random.pick([
      text.slice(0, at) + character + text.slice(at + 1),
      text.slice(0, at) + character + text.slice(at),
      text.slice(0, at) + text.slice(at + 1),
      text.slice(0, at),
      text + character,
      text + text,
      "",
    ]);
  }
}

const statuses = [
  200, 201, 203, 204, 206, 226, 301, 302, 304, 400, 401, 403, 404, 405, 410, 418, 429, 500, 503, 521,
];
const fieldNames = [
  ...["link", "cache-control", "cdn-cache-control", "trendvault-cache-control", "content-location", "etag"],
  ...["content-type", "content-length", "location", "set-cookie", "vary", "age", "retry-after", "expires"],
  ...[
    "unencoded-digest",
    "signature",
    "signature-input",
    "access-control-allow-origin",
    "x-other",
    "refresh",
  ],
];
const hostileValues = [
  ...[
    '<https://other.example/>; rel="next"',
    "max-age=999999999",
    "no-store",
    "private",
    "0",
    "-1",
    "*",
    "W/",
  ],
  ...[
    "/api/trending?region=FR",
    "text/html",
    "application/json",
    '"other"',
    "other=1",
    "https://other.example/",
  ],
  ...[
    'tv=("@status");created=1;keyid="x";alg="ed25519"',
    "tv=:AAAA:",
    "sha-256=:AAAA:",
    "Thu, 01 Jan 1970",
    "",
  ],
];
