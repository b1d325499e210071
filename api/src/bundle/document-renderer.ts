import type { BundleDocument } from "@trendvault/contract/bundle-format";
import { readSignedFields } from "@trendvault/contract/signature-base";
import { splitTarget } from "../http/request-target.ts";
import type { FindRoute } from "../http/routes.ts";
import { identity } from "../resources/encodings.ts";
import { Refusal } from "../resources/refusal.ts";
import type { Builder } from "../serving/builder.ts";
import { CacheEntry } from "../serving/cache-entry.ts";
import { Counters } from "../serving/counters.ts";
import type { Snapshot } from "../serving/snapshot.ts";

/** `next` is the URL of the list's next page, null on the last and for what is no list. */
export type Rendered = { document: BundleDocument; next: string | null };

type Parts = { findRoute: FindRoute; builder: Builder; snapshot: Snapshot };

/** Answers targets as the origin does in one snapshot: by its routes, its resources and its signatures. */
export class DocumentRenderer {
  readonly #parts: Parts;
  readonly #counters = new Counters();

  constructor(parts: Parts) {
    parts.builder.prepare();
    this.#parts = parts;
  }

  /** The 200 to a canonical target. @throws Error when the origin would answer something else, or at another target */
  render(target: string): Rendered {
    const rendered = this.tryToRender(target);
    if (rendered instanceof Refusal) throw new Error(`Cannot render ${target}: ${rendered.detail}`);
    return rendered;
  }

  /** The same for what may not exist. @throws DatabaseUnreadable */
  tryToRender(target: string): Rendered | Refusal {
    const { findRoute, builder, snapshot } = this.#parts;
    const resource = findRoute(splitTarget(target).path)?.resolve(splitTarget(target)) ?? unknownPath;
    if (resource instanceof Refusal) return resource;
    if (resource.url !== target) throw new Error(`Cannot render ${target}: it is ${resource.url}`);
    const entry = new CacheEntry(resource, this.#counters.byRoute[resource.route]);
    const set = builder.finishNow(builder.build(entry, snapshot, asSigned));
    if (set instanceof Refusal) return set;
    const answer = set?.representations[identity]?.ok;
    const body = set?.content?.render(set.token);
    if (answer === undefined || body === undefined) throw new Error(`Cannot render ${target}: not prepared`);
    const headers = answer.headers as Headers;
    const signature = {
      "signature-input": headers.get("signature-input") ?? "",
      signature: headers.get("signature") ?? "",
    };
    const fields = { ...readSignedFields(headers), ...signature };
    return { document: { target, status: 200, fields, body: body.bytes }, next: body.next };
  }
}

const asSigned = { codings: [identity], compression: "fast" } as const;
const unknownPath = new Refusal("not-found", "there is no such path");
