import { documents } from "./answers/documents.ts";
import { readOpenapi } from "./answers/openapi-text.ts";
import { responseSigner } from "./answers/response-signer.ts";
import { tokenSigner } from "./answers/token-signer.ts";
import { GenerationWatch } from "./database/generation-watch.ts";
import { ListReader } from "./database/list-reader.ts";
import { answer } from "./http/answer.ts";
import { edgeGuard } from "./http/edge-guard.ts";
import { reportFailure } from "./http/failure.ts";
import type { Logger } from "./process/log.ts";
import { Builder } from "./serving/builder.ts";
import { Counters } from "./serving/counters.ts";
import { EditionKeeper } from "./serving/edition-keeper.ts";
import { representationMaker } from "./serving/representation.ts";
import { createState, type State } from "./serving/state.ts";
import type { Settings } from "./settings.ts";

export type Surroundings = { log: Logger; clock?: () => number };

/** An origin without a port: the database, what answers are made of, and what keeps them up to date. */
export type Origin = { state: State; watch: GenerationWatch; keeper: EditionKeeper };

/** Opens the database. Throws StoreUnusable. */
export async function openOrigin(
  settings: Settings,
  { log, clock = Date.now }: Surroundings,
): Promise<Origin> {
  const watch = new GenerationWatch(settings.databasePath);
  const signer = await responseSigner(settings.signingSeeds);
  const counters = new Counters();
  const represent = representationMaker(signer, () => Math.floor(clock() / 1000));
  const state = createState({
    builder: new Builder(represent, (milliseconds) => counters.built(milliseconds / 1000)),
    counters,
    log,
    guard: settings.edgeKeys === null ? null : edgeGuard(settings.edgeKeys, clock),
    lists: new ListReader(watch),
    signToken: tokenSigner(settings.tokenKeys),
    documents: documents(signer, readOpenapi),
  });
  const keeper = new EditionKeeper(watch, state);
  keeper.tick(clock());
  return { state, watch, keeper };
}

/** Listens. Several processes may share the port. */
export function listen({ state }: Origin, { host, port }: Pick<Settings, "host" | "port">) {
  return Bun.serve({
    hostname: host,
    port,
    development: false,
    reusePort: true,
    idleTimeout: 60, // seconds: longer than the pause of an edge between two requests
    maxRequestBodySize: 1024, // no request needs a body
    fetch: (request) => (state.timeNext ? answerTimed(request, state) : answer(request, state)),
    error: (error) => reportFailure(error, { request: null, route: "none", log: state.log }),
  });
}

// Few are timed: two clock readings for each would show in the figures that they are for.
function answerTimed(request: Request, state: State): Response | Promise<Response> {
  state.timeNext = false;
  const started = performance.now();
  const response = answer(request, state);
  const observe = () => state.counters.observe((performance.now() - started) / 1000);
  if (response instanceof Promise) void response.finally(observe);
  else observe();
  return response;
}
