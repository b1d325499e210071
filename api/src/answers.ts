import type { ListReader } from "./database/list-reader.ts";
import { createRoutes, type FindRoute } from "./http/routes.ts";
import { createDocuments } from "./resources/documents.ts";
import { describeApi } from "./resources/loaded-later.ts";
import { PageAssets } from "./resources/page-assets.ts";
import { videoLinks } from "./resources/video-links.ts";
import { Builder } from "./serving/builder.ts";
import { RepresentationFactory } from "./serving/representation.ts";
import type { Settings } from "./settings.ts";
import { createSigningKeys, type SigningKeys } from "./signing/signing-keys.ts";

/** What answers are made of: the same for the origin, which serves them, and for bundles, which hold them. */
export type AnswerParts = { findRoute: FindRoute; builder: Builder };

type AnswerOptions = {
  lists: ListReader;
  /** Unix time in milliseconds, for signatures. */
  clock: () => number;
  onBuilt: (seconds: number) => void;
};

/** Loads the keys of the settings and puts readers, resources and signatures together. */
export async function assembleAnswers(
  settings: Settings,
  { lists, clock, onBuilt }: AnswerOptions,
): Promise<AnswerParts> {
  const keys = await signingKeysOf(settings);
  const factory = new RepresentationFactory(keys.responses.kid, () => Math.floor(clock() / 1000));
  const findRoute = createRoutes({
    lists,
    documents: createDocuments(keys.publicKeys, () => describeApi(settings.regions)),
    linkOf: videoLinks(settings.videoUrl),
    assets: new PageAssets(settings.pageFolder),
    thumbHosts: settings.thumbHosts,
  });
  return { findRoute, builder: new Builder(keys, { factory, onBuilt }) };
}

/** @throws Error when the edge's key is the origin's own */
export function signingKeysOf(settings: Settings): Promise<SigningKeys> {
  return createSigningKeys({
    responses: settings.signingSeeds,
    tokens: settings.tokenSigningSeeds,
    edges: settings.edgeSigningKeys,
  });
}
