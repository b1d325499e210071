// Prints the value of the header with which the edge proves, for a minute, that a request comes from it.

import { parseKeyRing } from "../../contract/keys.ts";
import { EdgeSigner } from "../../contract/request-signatures.ts";

const signer = new EdgeSigner(parseKeyRing(process.env.EDGE_KEYS ?? ""));
console.log(await signer.sign(Date.now() / 1000));
