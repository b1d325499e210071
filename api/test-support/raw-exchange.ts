/** Sends bytes over a connection of its own and gives what came back until it was closed or was quiet. */
export async function exchange(url: string, bytes: string | Uint8Array, quietAfter = 60): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let received = "";
  let timer = setTimeout(() => resolve(received), 10 * quietAfter);
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(url).port),
    socket: {
      data(_socket, data) {
        received += data.toString("latin1");
        clearTimeout(timer);
        timer = setTimeout(() => resolve(received), quietAfter);
      },
      close: () => resolve(received),
      error: () => resolve(received),
    },
  });
  socket.write(bytes);
  const answer = await promise;
  clearTimeout(timer);
  socket.end();
  return answer;
}

/** The status codes of the responses in what came back. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/^HTTP\/1\.1 ([0-9]{3})/gm)].map(([, status]) => Number(status));
}
