<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

/** Signs a request as contract/pull-signature.ts says: HTTP Message Signatures (RFC 9421) with hmac-sha256. */
final readonly class PullSignature
{
    private const string COMPONENTS = '("@method" "@path" "@query")';

    /**
     * @param string $query with its question mark, as it is sent; or empty
     * @param int $created UTC seconds
     * @param string $nonce 16 to 64 characters of base64url, other ones for every request
     * @return array<string, string> the two fields
     */
    public static function fields(
        KeyRing $ring,
        string $path,
        string $query,
        int $created,
        string $nonce,
    ): array {
        $parameters =
            self::COMPONENTS .
            ";created=$created;nonce=\"$nonce\";keyid=\"$ring->keyId\";alg=\"hmac-sha256\"";
        $base = implode("\n", [
            '"@method": GET',
            "\"@path\": $path",
            '"@query": ' . ($query === '' ? '?' : $query),
            "\"@signature-params\": $parameters",
        ]);
        $mac = base64_encode(hash_hmac('sha256', $base, $ring->key, true));

        return ['Signature-Input' => "pull=$parameters", 'Signature' => "pull=:$mac:"];
    }
}
