import type { Settings } from "../settings.ts";
import { encodeBlock } from "./block-stream.ts";
import { openRendering } from "./rendering.ts";
import type { NamedShare } from "./share-process.ts";

/** Renders a share for the process that writes the file. @throws Error that says what to do */
export async function renderShare(
  { share, now, generation }: NamedShare,
  { settings, write }: { settings: Settings; write: (bytes: Uint8Array) => void },
): Promise<void> {
  const rendering = await openRendering({ settings, now });
  const { facts } = rendering;
  if (facts.generation !== generation) {
    throw new Error(
      `Cannot render generation ${generation}: ${facts.generation} was published meanwhile. Run it again`,
    );
  }
  for (const block of rendering.blocks(share)) write(encodeBlock(block));
  rendering.close();
}
