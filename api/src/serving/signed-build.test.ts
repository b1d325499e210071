import { expect, test } from "bun:test";
import { endOfStep, finish, finishNow, type SignedBuild } from "./signed-build.ts";

const signed = { signature: "sig=:AA==:", "signature-input": "sig=()" };
const message = { status: 200, fields: {} } as never;

function* buildInSteps(done: string[]): SignedBuild<string> {
  done.push("read");
  yield endOfStep;
  done.push("written");
  yield endOfStep;
  done.push("encoded");
  const { signature } = yield { message, created: 1 };
  done.push("signed");
  return signature;
}

test("between two steps of a build the event loop has its turn", async () => {
  const turns: (() => void)[] = [];
  const nextTurn = () => new Promise<void>((resolve) => turns.push(resolve));
  const done: string[] = [];
  const built = finish(buildInSteps(done), { sign: async () => signed, nextTurn });
  for (const expected of ["read", "written"]) {
    await Bun.sleep(1);
    expect(done.at(-1)).toBe(expected);
    turns.shift()?.();
  }
  expect(await built).toBe(signed.signature);
  expect(turns).toEqual([]);
});

test("what is finished at once waits for no turn", () => {
  const done: string[] = [];
  expect(finishNow(buildInSteps(done), () => signed)).toBe(signed.signature);
  expect(done).toEqual(["read", "written", "encoded", "signed"]);
});
