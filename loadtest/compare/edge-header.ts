// Prints the value of the header with which the edge proves, for a minute, that a request comes from it.
import { EdgeSigner } from "../../contract/edge-signature.ts";
import { parseKeyRing } from "../../contract/key-ring.ts";

const signer = new EdgeSigner(parseKeyRing(process.env.EDGE_KEYS ?? ""));
console.log(await signer.sign(Date.now() / 1000));
