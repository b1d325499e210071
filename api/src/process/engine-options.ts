const measuredWith = "1.4.4";

/**
 * What a worker sets in JavaScriptCore through its environment, for memory: measured, 67 MB become 56 and stay
 * there, for no more CPU. Bun names these options without a promise to keep them, and does not start with one
 * that it does not know: any other release gets none.
 */
export function engineOptions(bunVersion: string): Record<string, string> {
  if (bunVersion !== measuredWith) return {};
  return {
    BUN_JSC_useDFGJIT: "0", // the hot path is a dozen lines around native code: nothing to optimise
    BUN_JSC_gcMaxHeapSize: "6000000", // bytes between two collections; every Response counts with its whole body
  };
}
