// A report for Bun (oven-sh/bun), not filed: what a handler of `Bun.serve` costs above a static route.
//
// Reading one request header takes as much user time as the rest of the handler when the client sends a dozen. Bun 1.4.5,
// Linux 6.18, AMD EPYC with busy neighbours, Bun and wrk on one core; CPU time per request in µs, user + system, median of
// eight rounds of a second in turns (an answer of 1.5 KB with 11 fields):
//
//                                                      only Host sent   and 12 other fields
//   static route                                       1.8 + 7.4        2.0 + 6.9
//   () => new Response("hi")                           3.2 + 6.9        3.2 + 6.7
//   () => answer.clone()                               4.7 + 6.8        4.3 + 7.2
//   … that reads request.url                           5.1 + 7.7        6.3 + 8.3
//   … that reads request.headers.get(…)                5.1 + 7.0        8.7 + 7.5
//
// `request.headers` is built whole on the first access: WebCore__FetchHeaders__createFromUWS (src/jsc/bindings/bindings.cpp)
// copies the whole uWS::HttpRequest by value, about 6 KB, as the review of https://github.com/oven-sh/bun/pull/33636 has
// noticed, and makes a string of every field: 0.3 µs for each that nobody reads. clone() is cheap: 0.14 µs without fields,
// 0.29 with 11. System calls are the same for all, one recvfrom and one sendto a request; with 16 requests pipelined a static
// route needs 0.06 sendto and a handler 1.02, which is meant (https://github.com/oven-sh/bun/pull/42796): 3 against 9 µs.
//
// A 304 saves nothing: without a body, clone() takes 6.0 + 5.3 where 1.5 KB take 6.8 + 5.2, and 10.3 + 7.8 for 10.3 + 6.9
// with a field read (a Xeon with busy neighbours, five rounds, 12 fields sent). nginx saves the body's work, so this is
// where a handler compares worst.
//
// What would help: take the request by reference in createFromUWS; let get(name) look into the parsed request while the map
// was not asked for otherwise; a way to send one prepared Response more than once from a handler, as static routes do.
//
// To reproduce, with wrk on PATH: taskset -c 0 bun docs/upstream/bun-serve-cost-per-request.js
const fields = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`x-field-${i}`, "v".repeat(40)]));
const answer = new Response(new Uint8Array(1500), { headers: fields });
const unchanged = new Response(null, { status: 304, headers: fields });
const routes = {
  "/static": answer.clone(),
  "/hi": () => new Response("hi"),
  "/clone": () => answer.clone(),
  "/304": () => unchanged.clone(),
  "/304-and-field": (request) => (request.headers.get("accept-encoding") === "" ? null : unchanged.clone()),
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
