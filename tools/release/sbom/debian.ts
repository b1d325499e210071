import type { Part } from "./component.ts";

/**
 * The packages that bin/setup unpacked from Debian's archive: file names like php8.4-cli_8.4.28-1~deb13u1_amd64.deb, with
 * %3a for the colon of an epoch. PHP and the writer's libraries run the writer; PHPUnit's only check it.
 */
export function debianParts(fileNames: string, suite: string): Part[] {
  return fileNames
    .split("\n")
    .filter((line) => line.endsWith(".deb"))
    .map((line) => {
      const [name = "", version = "", architecture = ""] = decodeURIComponent(line.slice(0, -4)).split("_");
      return {
        purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=${suite}`,
        ...{ name, version, hashes: [], needs: [] },
        need: checksOnly.test(name) ? "excluded" : "required",
      } as const;
    });
}

const checksOnly =
  /^(phpunit|php-(codecoverage|deepcopy|file-iterator|invoker|parser|phar-io|text-template|timer|tokenizer))/;
