import type { ProblemExtras, ProblemKind } from "@trendvault/contract/problem";
import type { ListRefusal } from "@trendvault/contract/queries";

/** An error of the closed vocabulary, in place of a resource or its content. Returned, not thrown. */
export class Refusal {
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly extras: ProblemExtras;
  /** Whether it is signed, so that an edge stores it. A bad request is answered by the edge itself. */
  readonly isSigned: boolean;

  static of({ kind, detail, extras }: ListRefusal): Refusal {
    return new Refusal(kind, detail, extras);
  }

  constructor(
    kind: ProblemKind,
    detail: string,
    extras: ProblemExtras = {},
    isSigned = kind === "not-found",
  ) {
    this.kind = kind;
    this.detail = detail;
    this.extras = extras;
    this.isSigned = isSigned;
  }
}

/**
 * Several writers share the regions, and of the one that has this region nothing is here. Signed, it would take the place
 * of the lists that an edge has; as a failure (503) it would keep edges from asking for other regions.
 */
export const unpublishedRegion = new Refusal(
  "not-found",
  "No list of this market has been published here.",
  {},
  false,
);
