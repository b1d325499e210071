<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

/** Writes objects and looks whether they are there: a store that confirms may have kept nothing, a part, or something else. */
final readonly class CheckedStore
{
    private const int CHUNK_BYTES = 262_144;

    public function __construct(public S3Client $client) {}

    /**
     * Writes an object whose name has its hash. One that is there already is left alone, unless it is damaged.
     *
     * @throws StoreFailure
     */
    public function putOnce(string $key, Payload $payload): void
    {
        $response = $this->client->put($key, $payload, Condition::isNew());
        if ($response === null) {
            if ($this->isWhole($key, $payload)) {
                return;
            }
            $response = $this->client->put($key, $payload, Condition::none());
        }
        if (!$this->isWhole($key, $payload)) {
            throw StoreFailure::lost($key, 'what is there now has other bytes');
        }
    }

    /**
     * Writes a small text, such as a pointer.
     *
     * @return ?StoredObject null when the condition does not hold, and the object is not this text
     * @throws StoreFailure
     */
    public function putText(string $key, string $text, Condition $condition): ?StoredObject
    {
        $payload = Payload::text($text);
        $response = $this->client->put($key, $payload, $condition);
        $found = $this->client->get($key, max(4096, 2 * $payload->bytes));
        if ($found?->content === $text) {
            return $found;
        }

        return $response === null
            ? null
            : throw StoreFailure::lost($key, $found === null ? 'there is none' : 'it holds something else');
    }

    private function isWhole(string $key, Payload $payload): bool
    {
        $head = $this->client->head($key);
        if ($head === null || (int) $head->field('content-length') !== $payload->bytes) {
            return false;
        }

        return trim($head->field('etag'), '"') === $payload->md5 || $this->hasSameBytes($key, $payload);
    }

    /** For stores whose ETag is no MD5, such as those that encrypt with a key of yours. */
    private function hasSameBytes(string $key, Payload $payload): bool
    {
        $file = tmpfile();
        if ($file === false || !$this->client->download($key, $file, $payload->bytes)) {
            return false;
        }
        rewind($file);
        $hash = hash_init('sha256');
        while (($chunk = (string) fread($file, self::CHUNK_BYTES)) !== '') {
            hash_update($hash, $chunk);
        }

        return hash_final($hash, true) === $payload->sha256;
    }
}
