import { isReadMethod, longestTarget, refusalDetails } from "@trendvault/contract/http-rules";
import type { Resource, RouteName } from "../answers/resource.ts";
import { DatabaseUnreadable } from "../database/fault.ts";
import { make } from "../serving/make.ts";
import { rememberUrl, type State } from "../serving/state.ts";
import { reportFailure } from "./failure.ts";
import { allowedMethods, describeHealth } from "./plain-responses.ts";
import { problemResponse } from "./problem-response.ts";
import { Refusal } from "./refusal.ts";
import { splitTarget } from "./request-target.ts";
import { findRoute } from "./routes.ts";
import { findRepresentation, send } from "./send.ts";

/** Everything but a warm GET: other methods, errors, what has to be parsed or made first. */
export function answerUncommon(request: Request, state: State): Response | Promise<Response> {
  const target = splitTarget(request.url);
  if (target.path === "/healthz") return answerHealth(request, state);
  if (state.guard !== null && state.guard(request) !== "valid") return refuse("none", unsignedRequest, state);
  if (target.path.length + target.search.length > longestTarget) return refuse("none", tooLong, state);
  const found = findRoute(target.path);
  if (found === null) return refuse("none", unknownPath, state);
  if (request.method === "OPTIONS") return finish(found.route, allowedMethods(), state);
  if (!isReadMethod(request.method)) return refuse(found.route, otherMethod, state);
  const resource = found.find(target, state);
  if (resource instanceof Refusal) return refuse(found.route, resource, state);
  return serve({ resource, request, state });
}

// Needs no edge signature: load balancers ask for it.
function answerHealth(request: Request, state: State): Response {
  if (request.method === "OPTIONS") return finish("healthz", allowedMethods(), state);
  if (!isReadMethod(request.method)) return refuse("healthz", otherMethod, state);
  return finish("healthz", describeHealth(state.draining), state);
}

type Asked = { resource: Resource; request: Request; state: State };

function serve(asked: Asked): Response | Promise<Response> {
  const { resource, request, state } = asked;
  if (state.edition === null) return refuse(resource.route, nothingPublished, state);
  const encoding = state.chooseEncoding(request.headers.get("accept-encoding"));
  if (encoding === null) return refuse(resource.route, everyCodingRefused, state);
  const slot = state.slots.get(resource.url);
  if (slot !== undefined && slot.current.edition === state.edition) {
    const made = findRepresentation(slot, request, state);
    rememberUrl(request.url, slot, state);
    if (made !== undefined) return close(send(made, request, slot), state);
  }
  const waiting = state.queue.run(`${encoding} ${resource.url}`, () => make(resource, encoding, state));
  return waiting === null ? refuse(resource.route, tooBusy, state) : serveMade(waiting, asked);
}

async function serveMade(waiting: ReturnType<typeof make>, asked: Asked): Promise<Response> {
  const { resource, request, state } = asked;
  const started = performance.now();
  try {
    const made = await waiting;
    if (made instanceof Refusal) return refuse(resource.route, made, state);
    rememberUrl(request.url, made.slot, state);
    state.counters.misses++;
    const response = send(made.representation, request, made.slot);
    response.headers.set("server-timing", `build;dur=${(performance.now() - started).toFixed(2)}`);
    return close(response, state);
  } catch (error) {
    if (error instanceof DatabaseUnreadable) return refuse(resource.route, unreadable, state);
    const failure = reportFailure(error, { request, route: resource.route, log: state.log });
    return finish(resource.route, failure, state);
  }
}

function refuse(route: RouteName, refusal: Refusal, state: State): Response {
  return finish(route, problemResponse(refusal), state);
}

function finish(route: RouteName, response: Response, state: State): Response {
  state.counters.count(route, response.status);
  return close(response, state);
}

// While draining, clients are sent away to connect anew, to whoever listens then.
function close(response: Response, { draining }: State): Response {
  if (draining) response.headers.set("connection", "close");
  return response;
}

const unsignedRequest = new Refusal(
  "edge-signature",
  "This origin answers only requests that the edge has signed.",
);
const tooLong = new Refusal("uri-too-long", refusalDetails["uri-too-long"]);
const unknownPath = new Refusal("not-found", refusalDetails["not-found"]);
const otherMethod = new Refusal("method-not-allowed", refusalDetails["method-not-allowed"]);
const everyCodingRefused = new Refusal("not-acceptable", "Accept one of identity, br, zstd, gzip.");
const nothingPublished = new Refusal("not-ready", "Nothing was published yet.");
const unreadable = new Refusal(
  "not-ready",
  "This answer is not in memory, and the database cannot be read now.",
);
const tooBusy = new Refusal("busy", "Too many different answers are being built at once.");
