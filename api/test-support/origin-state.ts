import { toBase64url } from "@trendvault/contract/base64url";
import { tokenMinute } from "@trendvault/contract/token";
import { answer } from "../src/http/answer.ts";
import { type Origin, openOrigin } from "../src/origin.ts";
import { readSettings } from "../src/settings.ts";

/** Variables that an origin needs. The keys are for tests and worth nothing. */
export const testEnvironment = {
  TOKEN_KEYS: `k1:${"A".repeat(43)}`,
  SIGNING_KEY: toBase64url(new Uint8Array(32).fill(7)),
};

export const testTime = 1_795_171_230_000; // milliseconds, in the middle of a minute
export const testMinute = tokenMinute(testTime);

export type TestOrigin = Origin & {
  /** Lets the clock go on by milliseconds, and the origin look at it and at the database. */
  pass(milliseconds?: number): void;
  ask(target: string, init?: RequestInit): Promise<Response>;
  logged: { level: string; event: string; fields: Record<string, unknown> }[];
};

/** An origin over a database file, without a port, without timers, with a clock that stands still. */
export async function openTestOrigin(path: string, env: Record<string, string> = {}): Promise<TestOrigin> {
  let now = testTime;
  const logged: TestOrigin["logged"] = [];
  const settings = readSettings({ ...testEnvironment, DB_PATH: path, ...env });
  const origin = await openOrigin(settings, {
    log: (level, event, fields = {}) => logged.push({ level, event, fields }),
    clock: () => now,
  });
  return {
    ...origin,
    logged,
    pass(milliseconds = 0) {
      now += milliseconds;
      origin.keeper.tick(now);
    },
    ask: async (target, init) => answer(new Request(`http://origin.test${target}`, init), origin.state),
  };
}
