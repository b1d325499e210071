import type { ProblemExtras, ProblemKind } from "@trendvault/contract/problem";

/** An answer that is an error of the closed vocabulary. */
export class Refusal {
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly more: ProblemExtras;

  constructor(kind: ProblemKind, detail: string, more: ProblemExtras = {}) {
    this.kind = kind;
    this.detail = detail;
    this.more = more;
  }
}
