// The least that Bun can do for an answer: the file ANSWER.json has its status and fields, ANSWER.body its bytes.
// "socket" sends the finished bytes for whatever comes; "reader" is Bun's HTTP server, and reads what the origin reads.
import { file, listen, serve } from "bun";

const [, , kind] = process.argv;
const { status, fields } = await file(`${process.env.ANSWER}.json`).json();
const body = status === 304 ? null : await file(`${process.env.ANSWER}.body`).bytes();
const answer = new Response(body, { status, headers: fields });
const namesRead = ["x-edge-signature", "accept-encoding", "if-none-match"];

function respondReading({ method, url, headers }: Request): Response {
  if (method !== "GET" || url === "") return new Response(null, { status: 405 });
  for (const name of namesRead) headers.get(name);
  return answer.clone() as Response;
}

const where = { hostname: "127.0.0.1", port: Number(process.env.PORT) };
if (kind === "socket") {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === null ? "" : `content-length: ${body.length}\r\n`;
  const head = `HTTP/1.1 ${status} \r\ndate: ${new Date().toUTCString()}\r\n${length}${lines.join("")}\r\n`;
  const bytes = new Uint8Array(Buffer.concat([Buffer.from(head), body ?? new Uint8Array()]));
  listen({ ...where, socket: { data: (client) => void client.write(bytes) } });
} else serve({ ...where, fetch: respondReading });
