<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use Closure;
use Generator;

/**
 * What we need of S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/), with URLs in path style. Each request is tried
 * a few times, with delays that double and are drawn at random, and all together end with the deadline. A request that
 * is repeated may find that its first attempt was carried out: a condition that does not hold may mean that.
 */
final readonly class S3Client
{
    public const int ATTEMPTS = 3;

    private const float FIRST_DELAY_SECONDS = 0.2;
    /** 409: two conditional writes at once, at S3. */
    private const array TEMPORARY = [408, 409, 425, 429, 500, 502, 503, 504];
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
        $this->sleep = $sleep ?? static fn(float $seconds) => usleep((int) (1e6 * $seconds));
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
            $list = ObjectList::read($response->body, $this->address->prefix, $subject);
            yield from $list->objects;
            if ($list->next === null || $list->next === $after) {
                return;
            }
            $after = $list->next;
        }
        throw StoreFailure::garbage("the list of $prefix", 'a list that ends');
    }

    /** @throws StoreFailure */
    private function send(Request $request): Response
    {
        for ($attempt = 1; ; $attempt++) {
            $seconds = $this->deadline->secondsLeft();
            if ($seconds <= 0) {
                throw StoreFailure::late($request->key, $this->deadline->seconds);
            }
            try {
                $response = $this->transport->send($request, $seconds);
                $failure = in_array($response->status, self::TEMPORARY, true)
                    ? $this->failure($response, $request->key)
                    : null;
            } catch (TransportFailure $problem) {
                $failure = $this->ofTransport($problem, $request);
            }
            if ($failure === null) {
                return $response;
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
