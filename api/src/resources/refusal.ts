import type { ListRefusal } from "@trendvault/contract/list-refusals";
import type { ProblemExtras, ProblemKind } from "@trendvault/contract/problem";

/** An error of the closed vocabulary, in place of a resource or its content. Returned, not thrown. */
export class Refusal {
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly extras: ProblemExtras;

  static of({ kind, detail, extras }: ListRefusal): Refusal {
    return new Refusal(kind, detail, extras);
  }

  constructor(kind: ProblemKind, detail: string, extras: ProblemExtras = {}) {
    this.kind = kind;
    this.detail = detail;
    this.extras = extras;
  }
}
