import type { ReleaseFile } from "./files.ts";
import type { State } from "./state.ts";

/** What bin/release prints. */
export function describeRelease(state: State, files: readonly ReleaseFile[]): string {
  const { version, tag, commit, time, changes, todo } = state;
  const width = Math.max(...files.map(({ name }) => name.length));
  return `TrendVault ${version}: commit ${commit.slice(0, 12)} of ${time.toISOString()}, tag ${tag}

What a release holds:
${files.map(({ name, bytes, what }) => `  ${name.padEnd(width)}  ${size(bytes)}  ${what}`).join("\n")}
  and the images trendvault-writer:${version} and trendvault-origin:${version}, which CI builds from the Dockerfile

What has changed (${changes === null ? "CHANGELOG.md says nothing" : changes.version}):

${changes?.text ?? ""}

${todo.length === 0 ? `Ready. To release: git tag --sign ${tag} && git push origin ${tag}` : `Still to do before the tag:\n${todo.map((sentence) => `- ${sentence}`).join("\n")}`}`;
}

function size(bytes: number): string {
  return `${(bytes / 1024).toFixed(0).padStart(6)} KiB`;
}
