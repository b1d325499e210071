import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { FollowFailure } from "./failure.ts";
import { verifyHistory } from "./history.ts";
import { readAccess } from "./settings.ts";
import { nameStore, openStore } from "./stores.ts";

// No await here: the bundle with bytecode is CommonJS.
verify(readOptionsOrExit()).then(
  (isWhole) => process.exit(isWhole ? 0 : 1),
  (error: Error) => {
    if (!(error instanceof FollowFailure)) throw error;
    console.error(visible(`bin/verify-history: ${error.message}`));
    process.exit(4);
  },
);

type Options = ReturnType<typeof readOptions>;

function readOptionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`bin/verify-history: ${(error as Error).message}\nSee bin/verify-history --help.`);
    return process.exit(2);
  }
}

function readOptions(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      name: { type: "string" },
      kept: { type: "string" },
      data: { type: "boolean", default: false },
    },
  });
  const [text] = positionals;
  if (text === undefined || positionals.length > 1)
    throw new Error("Expected one store: s3://bucket/prefix, or the path of a folder");
  const address = nameStore(text, values.name);
  const { keys, s3 } = readAccess(address, process.env);
  const kept = values.kept === undefined ? "" : readFileSync(values.kept, "utf8");
  const store = openStore(address, s3);
  return { store, name: address.name, keys, kept, isRead: values.data };
}

async function verify({ store, ...options }: Options): Promise<boolean> {
  const { isWhole, lines } = await verifyHistory(store, options);
  for (const line of lines) console.log(visible(line));
  return isWhole;
}

/** With control characters, and those that turn a line around, as JSON has them: who writes to the store names objects. */
function visible(line: string): string {
  const written = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return line.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, written);
}
