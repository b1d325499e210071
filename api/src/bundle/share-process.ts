import type { BundleFacts } from "@trendvault/contract/bundle-file";
import type { Block } from "./block-packer.ts";
import { readBlocks } from "./block-stream.ts";
import type { RenderInput } from "./rendering.ts";
import type { Share } from "./walk.ts";

/** How a program is started: its words, and its environment. */
export type Program = { words: readonly string[]; env: Record<string, string | undefined> };

type Options = RenderInput & { program: Program; facts: Pick<BundleFacts, "generation"> };

/** The blocks of a share, rendered by another process. @throws Error with what that said, when it fails */
export async function* blocksOfProcess(
  { index, of }: Share,
  { settings, now, program, facts }: Options,
): AsyncGenerator<Block> {
  const share = `${index}/${of}@${now}#${facts.generation}`;
  const child = Bun.spawn([...program.words, "--database", settings.databasePath, "--share", share], {
    env: program.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    yield* readBlocks(child.stdout);
    const said = await child.stderr.text();
    const code = await child.exited;
    if (code !== 0) throw new Error(said.trim() || `A process that renders a share ended with ${code}`);
  } finally {
    child.kill("SIGKILL"); // nothing, when it has ended
  }
}

/** A share as `blocksOfProcess` names it: of which generation, and the time at which it is signed. */
export type NamedShare = { share: Share; now: number; generation: number };

/** Reads the name of a share, or gives null. */
export function readShare(text: string): NamedShare | null {
  const [, index, of, now, generation] = /^(\d+)\/(\d+)@(\d+)#(\d+)$/.exec(text)?.map(Number) ?? [];
  if (index === undefined || of === undefined || now === undefined || generation === undefined) return null;
  return { share: { index, of }, now, generation };
}
