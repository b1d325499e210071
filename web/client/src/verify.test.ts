import { expect, test } from "bun:test";
import { TestSigner } from "@trendvault/contract/test-support/test-signer";
import { baseUrl, pageOf } from "../test-support/fake-server.ts";
import { connect } from "./connect.ts";
import { trending } from "./trending.ts";
import { createVerifier, VerificationError } from "./verify.ts";

test("a connection that verifies gives what is signed, also of a 304, and throws for what was changed", async () => {
  const signer = await TestSigner.create();
  const original = JSON.stringify(pageOf());
  let body = original;
  const fetch = async (request: Request) => {
    if (request.headers.has("if-none-match")) return new Response(null, { status: 304 });
    const created = Math.floor(Date.now() / 1000);
    const fields = await signer.sign(original, { location: "/api/trending?region=DE", created });
    return new Response(body, { headers: fields });
  };
  const connection = { baseUrl, fetch, verify: createVerifier({ keys: signer.publicKeys }) };
  const client = connect(connection);
  for (const _ of [1, 2]) expect((await trending({ client, region: "DE" })).items).toHaveLength(2);
  await expect(trending({ client, region: "PL" })).rejects.toMatchObject({ refusal: "other-question" });
  body = body.replace('"rank":1', '"rank":3');
  const changed = trending({ client: connect(connection), region: "DE" });
  await expect(changed).rejects.toBeInstanceOf(VerificationError);
});
