import type { Part } from "./component.ts";

const requirement = /^(?<name>[A-Za-z0-9._-]+)==(?<version>[^\s;\\]+)/;

/** The packages of a pip requirements file with versions and hashes, which the load test, the benchmark and checks use. */
export function pythonParts(requirements: string): Part[] {
  const parts: Part[] = [];
  // One requirement may go over several lines, which end with a backslash.
  for (const line of requirements.replaceAll("\\\n", " ").split("\n")) {
    const { name, version } = requirement.exec(line)?.groups ?? {};
    if (name === undefined || version === undefined) continue;
    const purl = `pkg:pypi/${name.toLowerCase().replaceAll(/[._]/g, "-")}@${version}`;
    parts.push({ purl, name, version, need: "optional", hashes: [], needs: [] });
  }
  return parts;
}
