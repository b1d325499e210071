// The least that Bun can do for an answer: the file ANSWER.json has its status and fields, ANSWER.body its bytes.
// With the argument "reader" it also reads of a request what the origin reads.
import { file, serve } from "bun";

const [, , kind] = process.argv;
const { status, fields } = await file(`${process.env.ANSWER}.json`).json();
const body = status === 304 ? null : await file(`${process.env.ANSWER}.body`).bytes();
const answer = new Response(body, { status, headers: fields });
const respond = () => answer.clone() as Response;
const namesRead = ["x-edge-signature", "accept-encoding", "if-none-match"];

function respondReading({ method, url, headers }: Request): Response {
  if (method !== "GET" || url === "") return new Response(null, { status: 405 });
  for (const name of namesRead) headers.get(name);
  return respond();
}

const fetch = kind === "reader" ? respondReading : respond;
serve({ hostname: "127.0.0.1", port: Number(process.env.PORT), fetch });
