import { type KeyRing, parseKeyRing } from "@trendvault/contract/key-ring";
import * as z from "zod/mini";

/** What each variable means and how it may look stands in .env.example. */
const environment = z.object({
  HOST: z._default(text(/^[0-9A-Za-z.:-]+$/, "a host name or address"), "127.0.0.1"),
  PORT: z._default(wholeNumber(0, 65_535), 3000),
  DB_PATH: z._default(text(/^[^\0]+$/, "a file"), "data/trendvault.db"),
  TOKEN_KEYS: keyRing(),
});

const examples: Record<string, string> = {
  HOST: "127.0.0.1",
  PORT: "3000",
  DB_PATH: "data/trendvault.db",
  TOKEN_KEYS: "k1:<32 random bytes as base64url: openssl rand -base64 32 | tr '+/' '-_' | tr -d '='>",
};

export type Settings = {
  host: string;
  /** 0 lets the system choose. */
  port: number;
  databasePath: string;
  tokenKeys: KeyRing;
};

/** Reads the settings. Throws an Error naming every bad variable, its problem and an example. */
export function readSettings(env: Record<string, string | undefined>): Settings {
  const parsed = environment.safeParse(env);
  if (!parsed.success) throw new Error(parsed.error.issues.map(describeIssue).join("\n"));
  const { HOST, PORT, DB_PATH, TOKEN_KEYS } = parsed.data;
  return { host: HOST, port: PORT, databasePath: DB_PATH, tokenKeys: TOKEN_KEYS };
}

function describeIssue(issue: { path: PropertyKey[]; message: string }): string {
  const name = String(issue.path[0]);
  return `${name}: ${issue.message}. Example: ${name}=${examples[name]}`;
}

function text(pattern: RegExp, expected: string) {
  return z.string().check(z.regex(pattern, { error: `expected ${expected}` }));
}

function wholeNumber(smallest: number, largest: number) {
  const error = `expected a whole number from ${smallest} to ${largest}`;
  return z.pipe(
    z.string().check(z.regex(/^[0-9]{1,9}$/, { error })),
    z.pipe(z.transform(Number), z.int().check(z.minimum(smallest, { error }), z.maximum(largest, { error }))),
  );
}

function keyRing() {
  const missing = "missing, and there is no default key";
  return z.pipe(
    z.string({ error: missing }),
    z.transform((value, context): KeyRing => {
      try {
        return parseKeyRing(value);
      } catch (error) {
        context.issues.push({ code: "custom", message: (error as Error).message, input: "(secret)" });
        return z.NEVER;
      }
    }),
  );
}
