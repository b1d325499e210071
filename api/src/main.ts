import { startOrigin } from "./origin.ts";
import { readSettings } from "./settings.ts";

try {
  const { server, stop } = startOrigin(readSettings(process.env));
  console.log(JSON.stringify({ event: "listening", url: server.url.href, pid: process.pid }));
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, async () => {
      await stop();
      process.exit(0);
    });
  }
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
