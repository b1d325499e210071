import { tokenMinute } from "@trendvault/contract/token";
import { answer, type State } from "./answer.ts";
import { GenerationWatch } from "./generation-watch.ts";
import type { Settings } from "./settings.ts";
import { Store } from "./store.ts";
import { tokenSigner } from "./token-signer.ts";

const lookEveryMilliseconds = 50; // a published generation has to be seen within 250

/** Opens the database, listens, and keeps the edition up to date. Throws when it cannot start. */
export function startOrigin(settings: Settings, clock: () => number = Date.now) {
  const watch = new GenerationWatch(Store.open(settings.databasePath));
  const state: State = {
    edition: null,
    store: () => watch.store,
    signToken: tokenSigner(settings.tokenKeys),
    pages: new Map(),
  };
  const refresh = () => {
    const generation = watch.look();
    const minute = tokenMinute(clock());
    if (generation === null) state.edition = null;
    else if (state.edition?.generation !== generation || state.edition.minute !== minute) {
      state.edition = { generation, minute };
    }
  };
  refresh();
  const server = Bun.serve({
    hostname: settings.host,
    port: settings.port,
    development: false,
    reusePort: false,
    fetch: (request) => answer(request, state),
  });
  const timer = setInterval(refresh, lookEveryMilliseconds);
  const stop = () => {
    clearInterval(timer);
    return server.stop();
  };
  return { server, stop };
}
