/**
 * The files that a file imports, as paths from the project's root, and the imports that cannot be followed, each as
 * the object of a sentence.
 */
export type FileImports = { imported: readonly string[]; unreadable: readonly string[] };

/** By file. */
export type Imports = ReadonlyMap<string, FileImports>;
