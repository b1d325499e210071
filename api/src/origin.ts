import { useRegions } from "@trendvault/contract/regions";
import { GenerationWatcher } from "./database/generation-watcher.ts";
import { type GenerationMark, markGeneration } from "./database/inspector.ts";
import { ListReader } from "./database/list-reader.ts";
import type { Generation } from "./database/store.ts";
import { RequestHandler } from "./http/request-handler.ts";
import type { RequestHead } from "./http/request-head.ts";
import { createRoutes, type FindRoute } from "./http/routes.ts";
import { HttpServer } from "./http/server.ts";
import type { Logger } from "./log.ts";
import { createDocuments } from "./resources/documents.ts";
import { failurePage, PageAssets } from "./resources/pages.ts";
import { videoLinks } from "./resources/trending.ts";
import type { Answer } from "./serving/answer.ts";
import { Builder } from "./serving/builder.ts";
import { Counters, type CounterValues } from "./serving/counters.ts";
import { RepresentationFactory } from "./serving/representation.ts";
import { ResponseCache } from "./serving/response-cache.ts";
import { SnapshotScheduler } from "./serving/snapshot-scheduler.ts";
import type { Settings } from "./settings.ts";
import { createSigningKeys, type SigningKeys } from "./signing.ts";

type Environment = { log: Logger; clock?: () => number };

/** What an origin is made of. */
type OriginParts = {
  watcher: GenerationWatcher;
  lists: ListReader;
  counters: Counters;
  cache: ResponseCache;
  scheduler: SnapshotScheduler;
  handler: RequestHandler;
  log: Logger;
};

/** How an origin is doing. */
type OriginStatus = {
  counters: CounterValues;
  /** The one that is served; null until something was published. `publishedAt` is Unix time in seconds. */
  generation: GenerationMark | null;
  /** Why the last good generation is served instead of the newest; null when the newest is served. */
  degradedReason: string | null;
};

/** An origin without a port: it answers requests from a database that it follows. */
export class Origin {
  readonly #parts: OriginParts;
  readonly #handler: RequestHandler;
  #isNextTimed = false;

  constructor(parts: OriginParts) {
    this.#parts = parts;
    this.#handler = parts.handler;
  }

  /** What the server calls. */
  readonly answer = (request: RequestHead): Answer | Promise<Answer> =>
    this.#isNextTimed ? this.#answerTimed(request) : this.#handler.answer(request);

  /** The answer to a request that failed before `answer`, or in it. */
  readonly answerFailure = (error: unknown): Answer => this.#handler.answerFailure(error);

  /** The answer to what is no request of HTTP/1.1, or not whole in time. */
  readonly answerBadHead = (bad: Parameters<RequestHandler["answerBadHead"]>[0]): Answer =>
    this.#handler.answerBadHead(bad);

  /** Looks at the database and the clock (`now` in milliseconds). Call it every 20 milliseconds or so. */
  tick(now: number): void {
    this.#parts.scheduler.tick(now);
    this.#isNextTimed = true;
  }

  /** From now on load balancers are told to go elsewhere. */
  drain(): void {
    this.#handler.drain();
  }

  status(): OriginStatus {
    const { counters, scheduler } = this.#parts;
    const generation = markGeneration(this.generation);
    return { counters: counters.read(), generation, degradedReason: scheduler.degradedReason };
  }

  /** The one that is served; null until something was published. */
  get generation(): Generation | null {
    return this.#parts.cache.snapshot?.generation ?? null;
  }

  /** Opens the database anew with the next tick. */
  reopen(): void {
    this.#parts.watcher.reopen();
  }

  get degradedReason(): string | null {
    return this.#parts.scheduler.degradedReason;
  }

  // One a tick: two clock readings for each request would show in the figures that they are for.
  #answerTimed(request: RequestHead): Answer | Promise<Answer> {
    const { counters } = this.#parts;
    this.#isNextTimed = false;
    const started = performance.now();
    const answer = this.#handler.answer(request);
    const observe = () => counters.observe((performance.now() - started) / 1000);
    if (answer instanceof Promise) void answer.then(observe, observe);
    else observe();
    return answer;
  }
}

/** Opens the database and puts an origin together. `clock` gives milliseconds. @throws DatabaseUnusable */
export async function assembleOrigin(
  settings: Settings,
  { log, clock = Date.now }: Environment,
): Promise<OriginParts> {
  useRegions(settings.regions);
  const watcher = new GenerationWatcher(settings.databasePath, clock);
  const lists = new ListReader(watcher);
  const counters = new Counters();
  const onBuilt = (seconds: number) => counters.countBuild(seconds);
  const { builder, ...answers } = await assembleAnswers(settings, { lists, clock, onBuilt });
  const cache = new ResponseCache(builder, counters);
  const scheduler = new SnapshotScheduler({ watcher, cache, builder, lists, log });
  scheduler.tick(clock());
  const { edgeKeys } = settings;
  const handler = new RequestHandler({ cache, counters, ...answers, edgeKeys, clock, log });
  return { watcher, lists, counters, cache, scheduler, handler, log };
}

type ListenOptions = { hostname: string; port: number; answer?: Origin["answer"] };

/** Listens on a port, which several processes may share. `answer`: what is called instead of the origin's. */
export function listen(origin: Origin, { answer = origin.answer, ...where }: ListenOptions): HttpServer {
  const { answerFailure, answerBadHead } = origin;
  return new HttpServer({ ...where, answer, answerFailure, answerBadHead });
}

/** What answers are made of: the same for the origin, which serves them, and for bundles, which hold them. */
type AnswerParts = { findRoute: FindRoute; builder: Builder; failurePage: ReturnType<typeof failurePage> };

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
  const assets = new PageAssets();
  const findRoute = createRoutes({
    lists,
    documents: createDocuments(keys.publicKeys, settings.regions),
    linkOf: videoLinks(settings.videoUrl),
    assets,
    thumbHosts: settings.thumbHosts,
  });
  return { findRoute, builder: new Builder(keys, { factory, onBuilt }), failurePage: failurePage(assets) };
}

/** @throws Error when the edge's key is the origin's own */
export function signingKeysOf(settings: Settings): Promise<SigningKeys> {
  return createSigningKeys({
    responses: settings.signingSeeds,
    tokens: settings.tokenSigningSeeds,
    edges: settings.edgeSigningKeys,
  });
}
