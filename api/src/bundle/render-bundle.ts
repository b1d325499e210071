import { type BundleCounts, BundleFileWriter, type WrittenBundle } from "./bundle-file.ts";
import { openRendering, type RenderInput } from "./rendering.ts";
import { blocksOfProcess, type Program } from "./share-process.ts";
import type { Share } from "./walk.ts";

type RenderOptions = RenderInput & {
  /** The file to write. */
  output: string;
  /** How many processes render: this one alone, or so many others. */
  processes: number;
  /** How this program is started. */
  program: Program;
  onProgress: (written: BundleCounts) => void;
};

/** What was rendered. */
export type RenderedBundle = WrittenBundle & { generation: number };

/**
 * Writes the bundle of the newest generation of a database. It is written to its place as it is made, and deleted when
 * it cannot be finished. @throws Error that says what to do
 */
export async function renderBundle(options: RenderOptions): Promise<RenderedBundle> {
  const rendering = await openRendering(options);
  const { processes, onProgress } = options;
  const { facts } = rendering;
  const file = new BundleFileWriter(options.output);
  const blocksOf = (share: Share) =>
    processes === 1 ? rendering.blocks(share) : blocksOfProcess(share, { ...options, facts });
  try {
    const shares = Array.from({ length: processes }, (_, index) => ({ index, of: processes }));
    const writing = shares.map(async (share) => {
      for await (const block of blocksOf(share)) {
        file.add(block);
        onProgress(file);
      }
    });
    await Promise.all(writing);
    return { generation: facts.generation, ...file.finish(facts) };
  } catch (error) {
    file.discard();
    throw error;
  } finally {
    rendering.close();
  }
}
