import { expect, test } from "bun:test";
import { engineOptions } from "./worker-pool.ts";

test("the Bun that is installed starts with the options", () => {
  const options = engineOptions(Bun.version);
  expect(Object.keys(options)).not.toEqual([]);
  const { success } = Bun.spawnSync([process.execPath, "-e", "0"], { env: { ...process.env, ...options } });
  expect(success).toBe(true);
});

test("another release of Bun, which may not know them, gets none", () => {
  expect(engineOptions("1.4.6")).toEqual({});
});
