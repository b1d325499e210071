import { readFileSync } from "node:fs";
import { readRegionTable, useRegions } from "@trendvault/contract/regions";

/** Takes over the regions of a file. @throws Error that says what is wrong with it, a line for each mistake */
export function useRegionsFile(path: string): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`Cannot read --regions ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
  try {
    useRegions(readRegionTable(text));
  } catch (error) {
    throw new Error(`Cannot use --regions ${path}:\n${(error as Error).message}`);
  }
}
