import { equalInConstantTime, type KeyRing } from "@trendvault/contract/keys";
import {
  acceptedMinutes,
  edgeMinute,
  edgePayload,
  edgeSignatureHeader,
  formatEdgeSignature,
} from "@trendvault/contract/request-signatures";

/** Whether a request comes from our edge. */
export type EdgeGuard = (request: Request) => boolean;

/**
 * Compares the header of a request with the few values that the edge can send now: three for each key of the ring,
 * computed once a minute. `now` gives Unix time in milliseconds.
 */
export function edgeGuard(ring: KeyRing, now: () => number): EdgeGuard {
  const hashers = [...ring].map(([kid, key]) => ({ kid, hasher: new Bun.CryptoHasher("sha256", key) }));
  let minute = Number.NaN;
  let accepted: string[] = [];
  return (request) => {
    const header = request.headers.get(edgeSignatureHeader);
    if (header === null) return false;
    const current = edgeMinute(now() / 1000);
    if (current !== minute) {
      accepted = hashers.flatMap((keyed) => signaturesAround(current, keyed));
      minute = current;
    }
    return accepted.some((signature) => equalInConstantTime(header, signature)); // which one is no secret
  };
}

type Keyed = { kid: string; hasher: Bun.CryptoHasher };

function signaturesAround(current: number, { kid, hasher }: Keyed): string[] {
  return acceptedMinutes(current).map((minute) => {
    const mac = hasher.copy().update(edgePayload({ kid, minute })).digest("base64url");
    return formatEdgeSignature({ kid, minute }, mac);
  });
}
