import type { ProblemExtras, ProblemKind } from "@trendvault/contract/problem";

/** An error of the closed vocabulary, in place of a resource or its content. Returned, not thrown. */
export class Refusal {
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly extras: ProblemExtras;

  constructor(kind: ProblemKind, detail: string, extras: ProblemExtras = {}) {
    this.kind = kind;
    this.detail = detail;
    this.extras = extras;
  }
}
