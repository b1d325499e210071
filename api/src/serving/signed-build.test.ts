import { expect, test } from "bun:test";
import { createSigningKeys } from "../signing.ts";
import { endOfStep, finish, finishNow, type SignedBuild } from "./representation.ts";

const bytes = new TextEncoder().encode("text");

function seed(byte: number): Uint8Array[] {
  return [Uint8Array.from({ length: 32 }, (_, index) => byte + index)];
}

function* buildInSteps(done: string[]): SignedBuild<string[]> {
  done.push("read");
  yield endOfStep;
  done.push("written");
  yield endOfStep;
  done.push("encoded");
  const signatures = [yield { purpose: "responses", bytes }, yield { purpose: "tokens", bytes }];
  done.push("signed");
  return signatures.map((signature) => signature.toHex());
}

const keys = await createSigningKeys({ responses: seed(1), tokens: seed(2) });
const signed = await Promise.all(
  [keys.responses, keys.tokens].map(async ({ sign }) => (await sign(bytes)).toHex()),
);

test("between two steps of a build the event loop has its turn", async () => {
  const turns: (() => void)[] = [];
  const yieldTurn = () => new Promise<void>((resolve) => turns.push(resolve));
  const done: string[] = [];
  const built = finish(buildInSteps(done), { keys, yieldTurn });
  for (const expected of ["read", "written"]) {
    await Bun.sleep(1);
    expect(done.at(-1)).toBe(expected);
    turns.shift()?.();
  }
  expect(await built).toEqual(signed);
  expect(turns).toEqual([]);
});

test("what is finished at once waits for no turn", () => {
  const done: string[] = [];
  expect(() => finishNow(buildInSteps([]), keys)).toThrow("the keys are not prepared");
  keys.prepare();
  expect(finishNow(buildInSteps(done), keys)).toEqual(signed);
  expect(done).toEqual(["read", "written", "encoded", "signed"]);
});
