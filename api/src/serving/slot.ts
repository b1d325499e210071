import type { Content, Resource } from "../answers/resource.ts";
import type { Generation } from "../database/generation.ts";
import { identity } from "../http/encodings.ts";
import { counterIndex } from "./counters.ts";
import type { Draft } from "./draft.ts";
import type { Edition } from "./edition.ts";
import type { Representation } from "./representation.ts";

/** An answer made for one edition, with the representations that were asked for so far. */
export type Build = {
  readonly edition: Edition | null;
  readonly draft: Draft;
  /** By the index of the coding. */
  readonly representations: (Representation | undefined)[];
};

/** Where the answers of one resource live from edition to edition. */
export class Slot {
  readonly resource: Resource;
  /** What is served while its edition is the current one. */
  current: Build = unbuilt;
  /** Made ahead for an edition that is about to begin. */
  upcoming: Build = unbuilt;
  content: Content | null = null;
  contentOf: Generation | null = null;
  /** How often it was served, halved with every edition: what is worth making ahead. */
  hits = 0;
  readonly okCounter: number;
  readonly notModifiedCounter: number;

  constructor(resource: Resource) {
    this.resource = resource;
    this.okCounter = counterIndex(resource.route, 200);
    this.notModifiedCounter = counterIndex(resource.route, 304);
  }

  forgetUpcoming(): void {
    this.upcoming = unbuilt;
  }

  /** Roughly the bytes it keeps alive: text, body and Blob are the same length or more. */
  get weight(): number {
    const coded = this.current.representations.reduce((sum, made) => sum + (made?.bytes ?? 0), 0);
    return slotOverhead + this.current.draft.body.length * 3 + coded;
  }
}

const slotOverhead = 4096; // URL, headers and objects

const unbuilt: Build = {
  edition: null,
  draft: { body: new Uint8Array(0), contentType: "", next: null },
  representations: [],
};

/** The indexes of the codings that a build was asked for, at least the plain one. */
export function codingsOf(build: Build): number[] {
  const asked = [...build.representations.keys()].filter(
    (index) => build.representations[index] !== undefined,
  );
  return asked.length === 0 ? [identity] : asked;
}
