import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { DatabaseBuilder, videos } from "../../test-support/database-builder.ts";
import { OriginProcess } from "../../test-support/origin-process.ts";

let builder: DatabaseBuilder;
let origin: OriginProcess;

beforeAll(async () => {
  builder = new DatabaseBuilder();
  builder.publish([{ region: "GB", videos: videos(60) }]);
  origin = await OriginProcess.start(builder.path);
});

afterAll(async () => {
  await origin.remove();
  builder.remove();
});

test("schemathesis finds no answer that the description does not allow", async () => {
  const schemathesis = Bun.spawn(
    [
      "schemathesis",
      ...["--config-file", join(import.meta.dir, "../../../contract/schemathesis.toml"), "--no-color"],
      ...["run", `${origin.url}openapi.json`, "--phases", "coverage,fuzzing"],
      ...["--max-examples", "30", "--generation-deterministic"],
    ],
    { cwd: builder.folder, stdout: "pipe", stderr: "pipe" },
  );
  const output = (await schemathesis.stdout.text()) + (await schemathesis.stderr.text());
  if ((await schemathesis.exited) !== 0) console.error(output);
  expect(output).toContain("No issues found");
}, 60_000);
