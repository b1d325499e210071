import { type Client, createClient } from "../generated/client/index.ts";
import { baseOf, type Connection, connectionSend } from "./requests/connection.ts";

/** A client of one TrendVault: for trending() and the others, and for the functions made from its description. */
export function connect(connection: Connection = {}): Client {
  // The generated client calls its fetch with a Request only.
  const fetch = connectionSend(connection) as typeof globalThis.fetch;
  return createClient({ baseUrl: baseOf(connection), fetch });
}
