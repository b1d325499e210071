import { once } from "node:events";
import { createServer } from "node:http";

/** What a path answers; its status is 200. */
export type Answer = { headers?: Record<string, string>; body: string | Uint8Array };

/** Another site, of a partner or a stranger, on this machine. */
export type Site = { url: string; host: string; stop: () => Promise<void> };

/** Serves answers by path under a name of its own, so that no cookie and no cache is shared with other sites. */
export async function serveSite(
  name: string,
  answers: Record<string, Answer> | ((path: string) => Answer | undefined),
): Promise<Site> {
  const find = typeof answers === "function" ? answers : (path: string) => answers[path];
  const server = createServer(({ url = "" }, response) => {
    const answer = find(new URL(url, "http://localhost").pathname);
    if (answer === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": "text/html", ...answer.headers }).end(answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const host = `${name}.localhost:${port}`;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://${host}`, host, stop };
}
