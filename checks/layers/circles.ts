type Graph = ReadonlyMap<string, readonly string[]>;

/** The circles of a graph, each as a way from a file back to itself; every file that is in one is in a returned one. */
export function findCircles(graph: Graph): string[][] {
  const circles: string[][] = [];
  for (const file of [...graph.keys()].sort()) {
    if (circles.some((circle) => circle.includes(file))) continue;
    const way = findWayBack(graph, file);
    if (way !== null) circles.push(way);
  }
  return circles;
}

/** The shortest way from a file to itself, with the file at both ends; null when there is none. */
function findWayBack(graph: Graph, file: string): string[] | null {
  const ways = [[file]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of graph.get(way.at(-1) ?? file) ?? []) {
      if (next === file) return [...way, file];
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return null;
}
