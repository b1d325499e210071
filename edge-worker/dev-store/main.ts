import edge from "../src/main.ts";
import { isForStore, respondAsStore } from "./s3-store.ts";

export { ViewCounter } from "../src/main.ts";

type DevEnv = Env & { BUNDLES: R2Bucket; DEV_STORE_ACCESS_KEY: string };

// biome-ignore lint/style/noDefaultExport: a Worker's handlers are its default export
export default {
  fetch(request, env, context) {
    return isForStore(request)
      ? respondAsStore(request, { bucket: env.BUNDLES, accessKey: env.DEV_STORE_ACCESS_KEY })
      : edge.fetch(request, env, context);
  },
} satisfies ExportedHandler<DevEnv>;
