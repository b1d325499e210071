import type { BundleDocument } from "@trendvault/contract/bundle-file";
import { splitTarget } from "../http/request-target.ts";
import type { FindRoute } from "../http/routes.ts";
import { Refusal } from "../resources/refusal.ts";
import type { Builder } from "../serving/builder.ts";
import type { Snapshot } from "../serving/snapshot.ts";

/** `next` is the URL of the list's next page, null on the last and for what is no list. */
export type Rendered = { document: BundleDocument; next: string | null };

type Parts = { findRoute: FindRoute; builder: Builder; snapshot: Snapshot };

/** Answers targets as the origin does in one snapshot: by its routes, its resources and its signatures. */
export class DocumentRenderer {
  readonly #parts: Parts;

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
    const signed = builder.finishNow(builder.sign(resource, snapshot));
    if (signed instanceof Refusal) return signed;
    if (signed === null) throw new Error(`Cannot render ${target}: the keys are not prepared`);
    const { body, fields } = signed;
    return { document: { target, status: 200, fields, body: body.bytes }, next: body.next };
  }
}

const unknownPath = new Refusal("not-found", "there is no such path");
