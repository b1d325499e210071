/** What only pages and feeds need, loaded with the first of them: the build has it in a file of its own. */
export function forPeople(): typeof import("./for-people.ts") {
  return require("./for-people.ts");
}

/** The description of the API, as committed; loaded likewise. */
export function readOpenapi(): string {
  const { openapiText } = require("./openapi-text.ts") as typeof import("./openapi-text.ts");
  return openapiText;
}
