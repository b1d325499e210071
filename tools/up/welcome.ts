import type { Options } from "./options.ts";
import { HOST } from "./services.ts";

/** What bin/up prints when everything answers. `region` is one with many videos. */
export function welcome(options: Options, region: string): string {
  const { port, origin: hasOrigin, edge, edgePort, adminPort, db } = options;
  const [originUrl, edgeUrl] = [`http://${HOST}:${port}`, `http://${HOST}:${edgePort}`];
  const site = edge ? edgeUrl : originUrl;
  const origin = edge
    ? `${originUrl} answers the edge only; bin/up --no-edge opens it`
    : `${originUrl}/api/trending, open to every client of this machine (--no-edge)`;
  const behind = hasOrigin
    ? `origin    ${origin}\n  admin     http://${HOST}:${adminPort}/metrics and /readyz`
    : `origin    none: the edge answers from the store that the writer publishes into (--no-origin)`;
  return `
TrendVault is up.

  page      ${site}/?region=${region}
  ${edge ? `edge      ${edgeUrl}/api/trending\n  ` : ""}${behind}
  database  ${db}; the writer runs every minute${describeVisitors(options)}

  curl '${site}/api/trending?region=${region}&limit=3'

Ctrl-C stops everything.
`;
}

function describeVisitors({ visitors }: Options): string {
  return visitors === 0
    ? ""
    : `
  visitors  ${visitors} simulated ones a second tell the edge what they looked at; the lists learn from it in minutes`;
}
