import { connect } from "node:net";

/**
 * Sends bytes over a connection of its own, waits for so many whole responses, closes its side, and gives everything
 * that came back until the connection was closed. The origin may close it earlier.
 */
export async function exchange(url: string, bytes: string | Uint8Array, responses = 1): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let received = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(url).port),
    socket: {
      data(connection, data) {
        received += data.toString("latin1");
        if (countWhole(received) >= responses) connection.end();
      },
      close: () => resolve(),
      error: () => resolve(),
    },
  });
  socket.write(bytes);
  await promise;
  return received;
}

/**
 * Sends bytes, closes its side at once (then `onClosed` is called), and gives everything that came back until the other
 * side is closed, too.
 */
export function exchangeHalfClosed(
  url: string,
  bytes: string,
  { onClosed = () => {} }: { onClosed?: () => void } = {},
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = "";
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), allowHalfOpen: true });
  socket.on("data", (data) => {
    received += data.toString("latin1");
  });
  socket.on("close", () => resolve(received));
  socket.on("error", () => resolve(received));
  socket.on("end", () => socket.destroy());
  socket.end(bytes, onClosed);
  return promise;
}

/** The status codes of the responses in what came back; a body ends without a line feed. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map(([, status]) => Number(status));
}

// A body is as long as Content-Length says; without one there is none.
function countWhole(received: string): number {
  let [count, from] = [0, 0];
  for (let end = received.indexOf("\r\n\r\n"); end !== -1; end = received.indexOf("\r\n\r\n", from)) {
    const length = /^content-length: ([0-9]+)\r$/im.exec(received.slice(from, end + 2))?.[1] ?? "0";
    from = end + 4 + Number(length);
    if (from > received.length) return count;
    count++;
  }
  return count;
}
