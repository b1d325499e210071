import { parseArgs } from "node:util";
import { makePicture } from "./make-picture.ts";

const usage = `bun ops/grafana/picture/main.ts [--minutes N]

Starts the whole system and a Prometheus that scrapes it, lets it live for some minutes (visitors ask, the writer
publishes, the store refuses its key for a while, the origin's workers are killed), and draws docs/dashboard.svg: what
each panel of the dashboard shows of that. bin/test ops brings Prometheus.

  --minutes N  how long it lives, from 5 to 60 (default 20)
  --help       this text
`;

try {
  const { values } = parseArgs({ options: { minutes: { type: "string" }, help: { type: "boolean" } } });
  const minutes = Number(values.minutes ?? 20);
  if (values.help === true) console.log(usage);
  else if (minutes >= 5 && minutes <= 60) await makePicture(minutes);
  else throw new Error(`--minutes is ${values.minutes}; expected a number from 5 to 60.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
