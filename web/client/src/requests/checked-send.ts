import type { Send } from "./retrying-send.ts";

/** An answer with its whole body, and what was asked. */
export type Answer = {
  url: string;
  status: number;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
};

/** Throws when an answer must not be used. */
export type Check = (answer: Answer) => Promise<void>;

/** Lets through answers to GET that a check accepts. Problems are not checked: they are errors anyway. */
export function checkedSend(send: Send, check: Check): Send {
  return async (request) => {
    const response = await send(request);
    if (request.method !== "GET" || !response.ok) return response;
    const body = new Uint8Array(await response.arrayBuffer());
    const { status, headers } = response;
    await check({ url: request.url, status, headers, body });
    return new Response(body, { status, headers });
  };
}
