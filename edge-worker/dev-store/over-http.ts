import edge from "../src/main.ts";
import { HttpBucket } from "./http-bucket.ts";

export { ViewCounter } from "../src/main.ts";

type TestEnv = Env & { STORE_URL: string };

/** The edge, whose bucket is a store of tests, which may misbehave (store/). */
// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  fetch(request, env, context) {
    const BUNDLES = new HttpBucket(env.STORE_URL);
    return edge.fetch(request, { ...env, BUNDLES } as never, context);
  },
} satisfies ExportedHandler<TestEnv>;
