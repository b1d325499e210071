type Graph = ReadonlyMap<string, readonly string[]>;

/** Import cycles, each as a path from a file back to itself. Every file that is in a cycle is in a returned one. */
export function findCycles(graph: Graph): string[][] {
  const cycles: string[][] = [];
  for (const file of [...graph.keys()].sort()) {
    if (cycles.some((cycle) => cycle.includes(file))) continue;
    const cycle = findShortestCycle(graph, file);
    if (cycle !== null) cycles.push(cycle);
  }
  return cycles;
}

/** The shortest path from a file to itself, with the file at both ends; null when there is none. */
function findShortestCycle(graph: Graph, file: string): string[] | null {
  const paths = [[file]];
  const seen = new Set<string>();
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    for (const next of graph.get(path.at(-1) ?? file) ?? []) {
      if (next === file) return [...path, file];
      if (!seen.has(next)) paths.push([...path, next]);
      seen.add(next);
    }
  }
  return null;
}
