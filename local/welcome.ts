import type { Options } from "./options.ts";
import { HOST } from "./services.ts";

/** What bin/up prints when everything answers. `region` is one with many videos, `adminPort` where metrics are. */
export function welcome(
  options: Options,
  { region, adminPort }: { region: string; adminPort: number },
): string {
  const { port, edge, edgePort, db } = options;
  const [originUrl, edgeUrl] = [`http://${HOST}:${port}`, `http://${HOST}:${edgePort}`];
  const site = edge ? edgeUrl : originUrl;
  const origin = edge
    ? `${originUrl} answers the edge only; bin/up --no-edge opens it`
    : `${originUrl}/api/trending, open to every client of this machine (--no-edge)`;
  return `
TrendVault is up.

  page      ${site}/?region=${region}
  ${edge ? `edge      ${edgeUrl}/api/trending\n  ` : ""}origin    ${origin}
  admin     http://${HOST}:${adminPort}/metrics and /readyz
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
