import openapi from "@trendvault/contract/openapi.json" with { type: "text" };

/** The description of the API, as committed. */
export function readOpenapi(): string {
  return openapi as unknown as string;
}
