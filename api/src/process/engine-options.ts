const measuredWith = "1.4.5";

/**
 * What a worker sets in JavaScriptCore through its environment, for memory: after 300,000 mixed requests it has 46 MB
 * instead of 55, for no more CPU (api/README.md). Bun names these options without a promise to keep
 * them, and does not start with one that it does not know: any other release gets none.
 */
export function engineOptions(bunVersion: string): Record<string, string> {
  if (bunVersion !== measuredWith) return {};
  return {
    BUN_JSC_useDFGJIT: "0", // the hot path is a dozen lines around native code: nothing to optimise
    BUN_JSC_gcMaxHeapSize: "6000000", // bytes between two collections; every Response counts with its whole body
  };
}
