import type { State } from "../serving/state.ts";
import { answerUncommon } from "./answer-uncommon.ts";
import { findRepresentation, send } from "./send.ts";

/**
 * From a request to its response; no port is needed to call it. A warm request takes the way here and in
 * send.ts: one look-up by the URL as it was sent, two header fields, a clone of a Response that was prepared before.
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
