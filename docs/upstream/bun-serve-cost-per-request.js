const fields = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`x-field-${i}`, "v".repeat(40)]));
const answer = new Response(new Uint8Array(1500), { headers: fields });
const routes = {
  "/static": answer.clone(),
  "/hi": () => new Response("hi"),
  "/clone": () => answer.clone(),
  "/clone-and-url": (request) => (request.url === "" ? null : answer.clone()),
  "/clone-and-field": (request) => (request.headers.get("accept-encoding") === "" ? null : answer.clone()),
};
const server = Bun.serve({ port: 0, routes });
const sent = {
  few: [],
  many: Array.from({ length: 12 }, (_, i) => ["-H", `X-Sent-${i}: ${"v".repeat(20)}`]).flat(),
};
const took = Object.fromEntries(
  Object.keys(routes).flatMap((path) =>
    Object.keys(sent).map((name) => [`${path}, ${name} fields sent`, []]),
  ),
);
for (let round = 0; round < (Number(process.argv[2]) || 9); round++) {
  for (const path of Object.keys(routes)) {
    for (const [name, headers] of Object.entries(sent)) {
      const before = process.cpuUsage();
      const wrk = Bun.spawn(["wrk", "-t1", "-c64", "-d1s", ...headers, `${server.url}${path.slice(1)}`]);
      const requests = Number(/(\d+) requests/.exec(await wrk.stdout.text())[1]);
      const { user, system } = process.cpuUsage(before);
      if (round > 0) took[`${path}, ${name} fields sent`].push([user / requests, system / requests]);
    }
  }
}
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1].toFixed(1);
for (const [name, pairs] of Object.entries(took)) {
  console.log(
    name.padEnd(36),
    median(pairs.map(([user]) => user)),
    "+",
    median(pairs.map(([, system]) => system)),
  );
}
server.stop(true);
