import { draftText } from "../serving/draft.ts";
import { fixedContent, type Resource } from "./resource.ts";
import type { ResponseSigner } from "./response-signer.ts";

/** What does not depend on the data: the description of the API and the public keys. */
export type Documents = { openapi: Resource; jwks: Resource };

export function documents(signer: ResponseSigner, readOpenapi: () => string): Documents {
  return {
    openapi: {
      url: "/openapi.json",
      route: "openapi",
      read: () => fixedContent(draftText(readOpenapi(), "application/json")),
    },
    jwks: {
      url: "/.well-known/jwks.json",
      route: "jwks",
      read: () => fixedContent(draftText(JSON.stringify(signer.publicKeys), "application/jwk-set+json")),
    },
  };
}
