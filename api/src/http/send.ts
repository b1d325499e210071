import { matchesEntityTag } from "@trendvault/contract/if-none-match";
import type { Representation } from "../serving/representation.ts";
import type { Slot } from "../serving/slot.ts";
import type { State } from "../serving/state.ts";

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
