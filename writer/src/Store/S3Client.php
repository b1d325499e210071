<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use Closure;
use Generator;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\WriterException;

/**
 * What we need of S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/), with URLs in path style. Each request is tried
 * a few times, with delays that double and are drawn at random, and all together end with the deadline. A request that
 * is repeated may find that its first attempt was carried out: a condition that does not hold may mean that. Writing looks
 * whether it is there: a store that confirms may have kept nothing, a part, or something else.
 */
final readonly class S3Client
{
    public const int ATTEMPTS = 3;

    private const float FIRST_DELAY_SECONDS = 0.2;
    /** 409: two conditional writes at once, at S3. */
    private const array TEMPORARY = [408, 409, 425, 429, 500, 502, 503, 504];
    private const int CHUNK_BYTES = 262_144;
    private const int MOST_LIST_BYTES = 4 * 1024 * 1024;
    private const int MOST_LIST_PAGES = 1000;

    /** @var Closure(float): void */
    private Closure $sleep;

    /** @param ?Closure(float): void $sleep for seconds; null for usleep() */
    public function __construct(
        public StoreAddress $address,
        private Transport $transport,
        public Deadline $deadline,
        ?Closure $sleep = null,
    ) {
        $this->sleep = $sleep ?? static fn(float $seconds) => usleep(max(0, (int) (1e6 * $seconds)));
    }

    /**
     * @param int $mostBytes a larger object is refused
     * @return ?StoredObject null when there is none
     * @throws StoreFailure
     */
    public function get(string $key, int $mostBytes): ?StoredObject
    {
        $response = $this->send(new Request('GET', $this->address->url($key), $key, mostBytes: $mostBytes));

        return match (true) {
            $response->status === 200 => new StoredObject($response->body, $response->field('etag')),
            self::isMissing($response) => null,
            default => throw $this->failure($response, $key),
        };
    }

    /**
     * Reads an object into a file that is open for writing, in pieces.
     *
     * @param resource $file written from its beginning
     * @return bool false when there is none
     * @throws StoreFailure
     */
    public function download(string $key, mixed $file, int $mostBytes): bool
    {
        $response = $this->send(
            new Request('GET', $this->address->url($key), $key, mostBytes: $mostBytes, sink: $file),
        );

        return match (true) {
            $response->status === 200 => true,
            self::isMissing($response) => false,
            default => throw $this->failure($response, $key),
        };
    }

    /**
     * The fields of an object without its content.
     *
     * @return ?Response null when there is none
     * @throws StoreFailure
     */
    public function head(string $key): ?Response
    {
        $response = $this->send(new Request('HEAD', $this->address->url($key), $key));

        return match ($response->status) {
            200 => $response,
            404 => null,
            default => throw $this->failure($response, $key),
        };
    }

    /**
     * @return ?Response null when the condition does not hold
     * @throws StoreFailure
     */
    public function put(string $key, Payload $payload, Condition $condition): ?Response
    {
        $fields = [
            'Content-Type: application/octet-stream',
            ...$condition->field === null ? [] : [$condition->field],
        ];
        $response = $this->send(new Request('PUT', $this->address->url($key), $key, $fields, $payload));
        // S3 answers If-Match for an object that is gone with 404 and NoSuchKey.
        $isRefused = $response->status === 412 || ($condition->field !== null && self::isMissing($response));

        return match (true) {
            $response->status === 200, $response->status === 201 => $response,
            $isRefused => null,
            default => throw $this->failure($response, $key),
        };
    }

    /**
     * Writes an object whose name has its hash. One that is there already is left alone, unless it is damaged.
     *
     * @throws StoreFailure
     */
    public function putOnce(string $key, Payload $payload): void
    {
        $response = $this->put($key, $payload, Condition::isNew());
        if ($response === null) {
            if ($this->isWhole($key, $payload)) {
                return;
            }
            $response = $this->put($key, $payload, Condition::none());
        }
        if (!$this->isWhole($key, $payload)) {
            throw StoreFailure::lost($key, 'what is there now has other bytes');
        }
    }

    /**
     * Writes a small text, such as a pointer.
     *
     * @param ?Closure(string): bool $isLater whether a text that is found there was written after this one; null for never
     * @return ?StoredObject null when the condition does not hold, and the object is not this text; or is a later one already
     * @throws StoreFailure
     */
    public function putText(
        string $key,
        string $text,
        Condition $condition,
        ?Closure $isLater = null,
    ): ?StoredObject {
        $payload = Payload::text($text);
        $response = $this->put($key, $payload, $condition);
        $found = $this->get($key, max(4096, 2 * $payload->bytes));
        if ($found?->content === $text) {
            return $found;
        }
        $isFollowed = $found !== null && $isLater !== null && $isLater($found->content);

        return $response === null || $isFollowed
            ? null
            : throw StoreFailure::lost($key, $found === null ? 'there is none' : 'it holds something else');
    }

    /** @throws StoreFailure */
    public function delete(string $key): void
    {
        $response = $this->send(new Request('DELETE', $this->address->url($key), $key));
        if (!in_array($response->status, [200, 202, 204, 404], true)) {
            throw $this->failure($response, $key);
        }
    }

    /**
     * The objects whose keys begin with a text, in the order of their keys, page by page (ListObjectsV2).
     *
     * @param string $prefix relative to the store's own
     * @return Generator<int, ListedObject>
     * @throws StoreFailure
     */
    public function list(string $prefix): Generator
    {
        $after = null;
        for ($page = 0; $page < self::MOST_LIST_PAGES; $page++) {
            $query = ['list-type' => '2', 'prefix' => $this->address->prefix . $prefix];
            if ($after !== null) {
                $query['continuation-token'] = $after;
            }
            $subject = "the list of $prefix";
            $response = $this->send(
                new Request(
                    'GET',
                    $this->address->url(null, $query),
                    $subject,
                    mostBytes: self::MOST_LIST_BYTES,
                ),
            );
            if ($response->status !== 200) {
                throw $this->failure($response, $subject);
            }
            [$objects, $next] = $this->page($response->body, $subject);
            yield from $objects;
            if ($next === null || $next === $after) {
                return;
            }
            $after = $next;
        }
        throw StoreFailure::garbage("the list of $prefix", 'a list that ends');
    }

    private function isWhole(string $key, Payload $payload): bool
    {
        $head = $this->head($key);
        if ($head === null || (int) $head->field('content-length') !== $payload->bytes) {
            return false;
        }

        return trim($head->field('etag'), '"') === $payload->md5 || $this->hasSameBytes($key, $payload);
    }

    /** For stores whose ETag is no MD5, such as those that encrypt with a key of yours. */
    private function hasSameBytes(string $key, Payload $payload): bool
    {
        $file = tmpfile();
        if ($file === false || !$this->download($key, $file, $payload->bytes)) {
            return false;
        }
        rewind($file);
        $hash = hash_init('sha256');
        while (($chunk = (string) fread($file, self::CHUNK_BYTES)) !== '') {
            hash_update($hash, $chunk);
        }

        return hash_final($hash, true) === $payload->sha256;
    }

    /**
     * A page of a list, as ListObjectsV2 answers. Read with patterns: it has four members that are of use here, and PHP on a
     * server need not have an extension for XML.
     *
     * @param string $subject for messages
     * @return array{list<ListedObject>, ?string} and where the next page begins; null on the last one
     * @throws StoreFailure
     */
    private function page(string $xml, string $subject): array
    {
        if (!str_contains($xml, '</ListBucketResult>')) {
            throw StoreFailure::garbage($subject, 'a whole ListBucketResult');
        }
        $prefix = $this->address->prefix;
        preg_match_all('~<Contents>(.*?)</Contents>~s', $xml, $contents);
        $objects = [];
        foreach ($contents[1] as $content) {
            $key = self::member($content, 'Key');
            $modifiedAt = Rfc3339::parse((string) self::member($content, 'LastModified'));
            $bytes = self::member($content, 'Size');
            if ($key === null || $modifiedAt === null || !ctype_digit((string) $bytes)) {
                throw StoreFailure::garbage($subject, 'Key, Size and LastModified of each object');
            }
            if (str_starts_with($key, $prefix)) {
                $objects[] = new ListedObject(substr($key, strlen($prefix)), (int) $bytes, $modifiedAt);
            }
        }
        $isCut = self::member($xml, 'IsTruncated') === 'true';

        return [$objects, $isCut ? self::member($xml, 'NextContinuationToken') : null];
    }

    private static function member(string $xml, string $name): ?string
    {
        return preg_match("~<$name>([^<]*)</$name>~", $xml, $match) === 1
            ? html_entity_decode($match[1], ENT_QUOTES | ENT_XML1)
            : null;
    }

    /** @throws StoreFailure */
    private function send(Request $request): Response
    {
        $attempt = 0;
        while (true) {
            $attempt++;
            $seconds = $this->deadline->secondsLeft();
            if ($seconds <= 0) {
                throw StoreFailure::late($request->key, $this->deadline->seconds);
            }
            try {
                $response = $this->transport->send($request, $seconds);
                if (!in_array($response->status, self::TEMPORARY, true)) {
                    return $response;
                }
                $failure = $this->failure($response, $request->key);
            } catch (TransportFailure $problem) {
                $failure = $this->ofTransport($problem, $request);
            }
            $delay = self::FIRST_DELAY_SECONDS * 2 ** $attempt * (mt_rand() / mt_getrandmax());
            if ($attempt === self::ATTEMPTS || $delay >= $this->deadline->secondsLeft()) {
                throw $failure;
            }
            ($this->sleep)($delay);
            self::rewind($request);
        }
    }

    /** @throws StoreFailure when another attempt would end alike */
    private function ofTransport(TransportFailure $problem, Request $request): StoreFailure
    {
        if ($problem->isTooLarge) {
            throw StoreFailure::tooLarge($request->key, $request->mostBytes);
        }

        return $this->deadline->secondsLeft() <= 0
            ? StoreFailure::late($request->key, $this->deadline->seconds)
            : StoreFailure::unreachable($request->key, $problem->getMessage());
    }

    private function failure(Response $response, string $key): StoreFailure
    {
        return StoreFailure::status($response->status, $response->errorCode(), $key);
    }

    private static function isMissing(Response $response): bool
    {
        return $response->status === 404 && $response->errorCode() !== 'NoSuchBucket';
    }

    /** What an attempt has written before it broke off. */
    private static function rewind(Request $request): void
    {
        if ($request->sink !== null) {
            rewind($request->sink);
            ftruncate($request->sink, 0);
        }
    }
}

/** An object as a list of the store names it. */
final readonly class ListedObject
{
    /**
     * @param string $key relative to the prefix
     * @param int $modifiedAt UTC seconds, by the store's clock
     */
    public function __construct(public string $key, public int $bytes, public int $modifiedAt) {}
}

/** An object that was read as a whole. */
final readonly class StoredObject
{
    public function __construct(public string $content, public string $etag) {}
}

/** When an object may be written (RFC 9110, section 13.1). */
final readonly class Condition
{
    private function __construct(public ?string $field) {}

    public static function none(): self
    {
        return new self(null);
    }

    /** Only when there is no such object. */
    public static function isNew(): self
    {
        return new self('If-None-Match: *');
    }

    /** Only when the object is still the one with this ETag. */
    public static function matches(string $etag): self
    {
        return new self("If-Match: $etag");
    }
}

/** The store did not do what was asked. What is in the local database is as it was. */
final class StoreFailure extends WriterException
{
    public static function unreachable(string $key, string $reason): self
    {
        return self::because(
            "The store does not answer for $key: $reason. Check S3_ENDPOINT_URL, and that the store is up.",
        );
    }

    public static function late(string $key, float $seconds): self
    {
        return self::because(
            "The store took too long: $seconds seconds were over before $key was done. The next run catches up.",
        );
    }

    /** @param string $code of S3, such as AccessDenied; may be empty */
    public static function status(int $status, string $code, string $key): self
    {
        $said = $code === '' ? "status $status" : "status $status, $code";

        return self::because(
            match (true) {
                $code === 'RequestTimeTooSkewed'
                    => "The store refuses $key: the clocks differ ($said). Set the clock.",
                $code === 'NoSuchBucket'
                    => "The store has no such bucket ($said for $key): create it, or correct the address.",
                $status === 401,
                $status === 403
                    => "The store refuses $key ($said): check S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and S3_REGION, and that this key may read, write, list and delete.",
                $status === 507,
                $code === 'QuotaExceeded',
                $code === 'EntityTooLarge'
                    => "The store is full ($said for $key): free some space there, or raise its quota. The next run catches up.",
                default => "The store failed with $key ($said). The next run tries again.",
            },
        );
    }

    public static function tooLarge(string $key, int $mostBytes): self
    {
        return self::because(
            "$key in the store has more than $mostBytes bytes, which nothing of ours has: look at who else writes there.",
        );
    }

    public static function garbage(string $key, string $expected): self
    {
        return self::because("The store answered for $key with something else than $expected.");
    }

    /** After a write that it confirmed. */
    public static function lost(string $key, string $found): self
    {
        return self::because("The store confirmed $key, but $found. The next run writes it again.");
    }

    public static function because(string $sentence): self
    {
        return new self($sentence, ExitCode::SourceFailed);
    }
}
