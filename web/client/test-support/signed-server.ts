import { TestSigner } from "@trendvault/kit/signers";
import { pageOf } from "./fake-server.ts";

/** A server with a list of DE, signed as the origin signs. `tamper` changes what is sent after it was signed. */
export async function signedServer() {
  const signer = await TestSigner.create();
  const state = { tamper: (body: string) => body };
  const server = Bun.serve({
    port: 0,
    fetch: async ({ url }) => {
      const { pathname, search, searchParams } = new URL(url);
      if (pathname === "/.well-known/jwks.json") return Response.json(signer.publicKeys);
      const offset = Number(searchParams.get("cursor")?.split("-")[1] ?? 0);
      const body = JSON.stringify(pageOf({ offset, count: 2, total: 6 }));
      const created = Math.floor(Date.now() / 1000);
      const fields = await signer.sign(body, { location: pathname + search, created });
      return new Response(state.tamper(body), { headers: fields });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, state, stop: () => server.stop(true) };
}
