/** How a release needs a component: it is in the files that serve, it is brought by bin/setup, or checks need it only. */
export type Need = "required" | "optional" | "excluded";

/** What a release is made of, however its registry calls it. `hashes` are hexadecimal, by algorithm. */
export type Part = {
  /** A package URL (ECMA-427). */
  purl: string;
  name: string;
  version: string;
  need: Need;
  hashes: readonly { algorithm: "SHA-256" | "SHA-512"; hex: string }[];
  /** The package URLs of the parts that it needs itself. */
  needs: readonly string[];
};
