import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createOpenapiDocument } from "@trendvault/contract/openapi";
import openapi from "@trendvault/contract/openapi.json";
import { DatabaseBuilder, videos } from "@trendvault/kit/database";
import { OriginProcess } from "@trendvault/kit/origin-process";
import { drawsOf } from "@trendvault/kit/random";

const exampleId = openapi.paths["/api/videos/{id}"].get.parameters[0]?.schema?.examples?.[0] ?? "";

let builder: DatabaseBuilder;
let origin: OriginProcess;

beforeAll(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: [{ id: exampleId }, ...videos(60)] }]);
  origin = await OriginProcess.start(builder.path);
});

afterAll(async () => {
  await origin.remove();
  builder.remove();
});

test("schemathesis finds no answer that the description does not allow", async () => {
  const description = join(builder.folder, "openapi.json");
  await Bun.write(description, JSON.stringify(createOpenapiDocument({ closed: true })));
  const schemathesis = Bun.spawn(
    [
      "schemathesis",
      ...["--config-file", join(import.meta.dir, "../../contract/schemathesis.toml"), "--no-color"],
      ...["run", description, "--url", origin.url, "--phases", "examples,coverage,fuzzing"],
      ...["--max-examples", String(drawsOf({ usual: 10, long: 100 })), "--generation-deterministic"],
    ],
    { cwd: builder.folder, stdout: "pipe", stderr: "pipe" },
  );
  const output = (await schemathesis.stdout.text()) + (await schemathesis.stderr.text());
  if ((await schemathesis.exited) !== 0) console.error(output);
  expect(output).toContain("No issues found");
}, 1_200_000);
