import { once } from "node:events";
import { createServer } from "node:net";

// Below the ports that the system gives to connections (32768 and above in Linux, 49152 elsewhere): what is free now is
// taken by nobody who did not ask for it, also while a program that is killed and started again is away.
const [first, count] = [10_240, 22_000];

/** A port that nothing listens on at the moment. In Node and in Bun. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = drawPort();
    if (await isFree(port)) return port;
  }
}

/** A port that no connection gets, which a program may listen on. */
export function drawPort(): number {
  return first + Math.floor(Math.random() * count);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
