import type { Content, Resource } from "../answers/resource.ts";
import type { Generation } from "../database/generation.ts";
import { identity } from "../http/encodings.ts";
import type { Tally } from "./counters.ts";
import type { Edition } from "./edition.ts";
import type { Representation } from "./representation.ts";

/** An answer made for one edition, with the representations that were asked for so far. */
export type Build = {
  readonly edition: Edition | null;
  readonly content: Content | null;
  /** SHA-256 of the plain body: builds of the same body share their representations. */
  readonly digest: Buffer;
  /** By the index of the coding. */
  readonly representations: (Representation | undefined)[];
};

/** Where the answers of one resource live from edition to edition. */
export class Slot {
  readonly resource: Resource;
  readonly tally: Tally;
  /** What is served while its edition is the current one. */
  current: Build = unbuilt;
  /** Made ahead for an edition that is about to begin. */
  upcoming: Build = unbuilt;
  content: Content | null = null;
  contentOf: Generation | null = null;
  /** How often it was served, halved with every edition: what is worth making ahead. */
  hits = 0;

  constructor(resource: Resource, tally: Tally) {
    this.resource = resource;
    this.tally = tally;
  }

  forgetUpcoming(): void {
    this.upcoming = unbuilt;
  }

  /** Roughly the bytes it keeps alive, in the heap and beside it. */
  get weight(): number {
    return this.current.representations.reduce(addWeight, 2048 + (this.content?.bytes ?? 0));
  }
}

function addWeight(sum: number, made: Representation | undefined): number {
  return made === undefined ? sum : sum + made.bytes + 4096; // two Responses with a dozen fields each
}

const unbuilt: Build = { edition: null, content: null, digest: Buffer.alloc(0), representations: [] };

/** The indexes of the codings that a build was asked for, at least the plain one. */
export function codingsOf(build: Build): number[] {
  const asked = [...build.representations.keys()].filter(
    (index) => build.representations[index] !== undefined,
  );
  return asked.length === 0 ? [identity] : asked;
}
