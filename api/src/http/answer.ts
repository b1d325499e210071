import type { Representation } from "../serving/representation.ts";
import type { Slot } from "../serving/slot.ts";
import type { State } from "../serving/state.ts";
import { answerUncommon } from "./answer-uncommon.ts";
import { matchesEntityTag } from "./if-none-match.ts";

/**
 * From a request to its response; no port is needed to call it. A warm request takes the way in this file:
 * one look-up by the URL as it was sent, two header fields, a clone of a Response that was prepared before.
 * What is not read here is not paid for here: see answer-uncommon.ts.
 */
export function answer(request: Request, state: State): Response | Promise<Response> {
  const slot = state.byUrl.get(request.url);
  if (slot === undefined || slot.current.edition !== state.edition) return answerUncommon(request, state);
  if (request.method !== "GET" || state.draining || state.guard !== null)
    return answerUncommon(request, state);
  const made = findRepresentation(slot, request, state);
  return made === undefined ? answerUncommon(request, state) : send(made, request, slot);
}

/** The representation to answer with, or undefined when it is not made yet or every coding was refused. */
export function findRepresentation(slot: Slot, request: Request, state: State): Representation | undefined {
  const encoding = state.chooseEncoding(request.headers.get("accept-encoding"));
  return encoding === null ? undefined : slot.current.representations[encoding];
}

/** 304 when the client has it, else 200. */
export function send(made: Representation, request: Request, slot: Slot): Response {
  const ifNoneMatch = request.headers.get("if-none-match");
  slot.hits++;
  if (ifNoneMatch !== null && matchesEntityTag(ifNoneMatch, made.etag)) {
    slot.tally.notModified++;
    return made.notModified.clone() as Response;
  }
  slot.tally.ok++;
  slot.tally.bytes += made.bytes;
  return made.ok.clone() as Response; // sending a Response uses it up
}
