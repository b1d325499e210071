import { toBase64url } from "@trendvault/contract/keys";
import { tokenMinute } from "@trendvault/contract/token";
import { assembleOrigin, Origin, type OriginParts } from "../src/origin.ts";
import { readSettings } from "../src/settings.ts";

/** Variables that an origin needs. The keys are for tests and worth nothing. */
export const testEnvironment = {
  TOKEN_SIGNING_KEYS: toBase64url(Uint8Array.from({ length: 32 }, (_, index) => 99 - index)),
  SIGNING_KEYS: toBase64url(Uint8Array.from({ length: 32 }, (_, index) => index)),
};

export const testTime = 1_795_171_230_000; // milliseconds, in the middle of a minute
export const testMinute = tokenMinute(testTime);

export type TestOrigin = OriginParts & {
  origin: Origin;
  /** Moves the clock on by milliseconds, and lets the origin look at it and at the database. */
  pass(milliseconds?: number): void;
  ask(target: string, init?: RequestInit): Promise<Response>;
  logged: { level: string; event: string; message: string; facts: Record<string, unknown> }[];
};

/** The parts of an origin over a database file, without a port, without timers, with a clock that stands still. */
export async function openTestOrigin(path: string, env: Record<string, string> = {}): Promise<TestOrigin> {
  let now = testTime;
  const logged: TestOrigin["logged"] = [];
  const settings = readSettings({ ...testEnvironment, DB_PATH: path, ...env });
  const parts = await assembleOrigin(settings, {
    log: (level, event, message, facts = {}) => logged.push({ level, event, message, facts }),
    clock: () => now,
  });
  const origin = new Origin(parts);
  return {
    ...parts,
    origin,
    logged,
    pass(milliseconds = 0) {
      now += milliseconds;
      origin.tick(now);
    },
    ask: async (target, init) => origin.answer(new Request(`http://origin.test${target}`, init)),
  };
}
