// The least that Bun can do for an answer: the file ANSWER.json has its status and fields, ANSWER.body its bytes.
// The argument says how: a static route, or a handler that copies a prepared response.
import { file, serve } from "bun";

const [, , kind = ""] = process.argv;
const { status, fields } = await file(`${process.env.ANSWER}.json`).json();
const body = status === 304 ? null : await file(`${process.env.ANSWER}.body`).bytes();
const answer = new Response(body, { status, headers: fields });

const kinds: Record<string, Pick<Bun.Serve.Options<undefined, string>, "fetch" | "routes">> = {
  static: { routes: { "/api/trending": answer }, fetch: () => new Response(null, { status: 404 }) },
  handler: { fetch: () => answer.clone() as Response },
};
serve({ hostname: "127.0.0.1", port: process.env.PORT, ...kinds[kind] } as Bun.Serve.Options<undefined>);
