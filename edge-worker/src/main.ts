import { answer } from "./edge.ts";
import type { Finder } from "./find-copy.ts";
import { openIsolate } from "./isolate.ts";
import { refuse } from "./problem-response.ts";
import { visitOf } from "./visit.ts";

let isolate: Finder | undefined;

// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  async fetch(request, env, context) {
    try {
      isolate ??= openIsolate(env);
      return await answer(request, visitOf(request, env, context), isolate);
    } catch (error) {
      console.error(error);
      return refuse("internal", "The request failed here.");
    }
  },
} satisfies ExportedHandler<Env>;
