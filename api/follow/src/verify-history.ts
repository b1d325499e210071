import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { FollowFailure } from "./failure.ts";
import { checkChain, checkData, collectPointers, findLost, reportHistory } from "./history.ts";
import { readKeySetting, readKeys, readS3 } from "./settings.ts";
import { openStore, parseAddress, requireName } from "./stores.ts";

const timeoutSeconds = 600;

// No await here: the bundle with bytecode is CommonJS.
verify(readOptionsOrExit()).then(
  (isWhole) => process.exit(isWhole ? 0 : 1),
  (error: Error) => {
    if (!(error instanceof FollowFailure)) throw error;
    console.error(`bin/verify-history: ${error.message}`);
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
  const address = parseAddress(text);
  const store = openStore(address, address.kind === "s3" ? readS3(process.env) : null);
  const kept = values.kept === undefined ? "" : readFileSync(values.kept, "utf8");
  const name = requireName(address, values.name);
  return { store, name, keys: readKeys(readKeySetting(process.env)), kept, isRead: values.data };
}

async function verify({ store, name, keys, kept, isRead }: Options): Promise<boolean> {
  const reader = { keys, store: name, now: Date.now() / 1000 };
  const signal = () => AbortSignal.timeout(timeoutSeconds * 1000);
  let found = await collectPointers(store, signal());
  let chain = await checkChain(found, reader);
  if (chain.break !== null) {
    found = await collectPointers(store, signal()); // the writer may have put pointers into a pack meanwhile
    chain = await checkChain(found, reader);
  }
  const data = await checkData(store, chain.pointers, { isRead, signal });
  const lost = await findLost(chain, kept);
  const { isWhole, lines } = reportHistory(chain, { ...found, data, lost });
  for (const line of lines) console.log(line);
  return isWhole;
}
