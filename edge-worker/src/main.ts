import { handleRequest } from "./http/handle-request.ts";
import { refuse } from "./http/problem-response.ts";
import { createRequestContext } from "./http/request-context.ts";
import { logToConsole } from "./log/logger.ts";
import { createServices, type Services } from "./services.ts";

export { ViewCounter } from "./counting/view-counter.ts";

let services: Services | undefined;

// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  async fetch(request, env, context) {
    try {
      services ??= createServices(env, logToConsole);
      return await handleRequest(request, createRequestContext(request, env, context), services);
    } catch (error) {
      logToConsole({
        level: "error",
        event: "request_failed",
        message: "The edge failed to answer a request.",
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      return refuse("internal", "The request failed at the edge.");
    }
  },
} satisfies ExportedHandler<Env>;
