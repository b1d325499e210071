<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use CurlHandle;
use Exception;
use RuntimeException;
use SensitiveParameter;

/**
 * Sends requests that curl signs (AWS Signature Version 4, CURLOPT_AWS_SIGV4), over a connection that stays open. The
 * payload's hash is in x-amz-content-sha256, so that the store refuses a body that was changed on its way.
 * Symfony's client, which the sources use, signs nothing and knows no least speed: with it, the signature would have to
 * be made here.
 */
final class Transport
{
    private const float CONNECT_TIMEOUT_SECONDS = 5.0;
    /** A transfer that is slower for so long is given up. */
    private const int LEAST_BYTES_PER_SECOND = 1024;
    private const int SLOW_SECONDS = 10;
    /** What is behind that is passed over. */
    private const int MOST_ERROR_BYTES = 65_536;

    private readonly CurlHandle $curl;
    /** @var array<string, string> */
    private array $fields = [];
    private string $body = '';
    private int $received = 0;
    private bool $isTooLarge = false;

    public function __construct(private readonly StoreAddress $address)
    {
        $this->curl = curl_init();
    }

    /** @throws TransportFailure */
    public function send(Request $request, float $seconds): Response
    {
        [$this->fields, $this->body, $this->received, $this->isTooLarge] = [[], '', 0, false];
        $upload = $request->payload?->open();
        curl_reset($this->curl);
        // Not spread: that would number the options anew.
        curl_setopt_array($this->curl, $this->method($request, $upload) + $this->common($request, $seconds));
        $done = curl_exec($this->curl);
        if ($upload !== null) {
            fclose($upload);
        }
        if ($done === false) {
            throw new TransportFailure(
                curl_strerror(curl_errno($this->curl)) ?? 'unknown failure',
                $this->isTooLarge,
            );
        }

        return new Response(
            (int) curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE),
            $this->fields,
            $this->body,
        );
    }

    /** @return array<int, mixed> */
    private function common(Request $request, float $seconds): array
    {
        $milliseconds = (int) max(1, ceil(1000 * $seconds)); // never before the deadline, which is then the reason

        return [
            CURLOPT_URL => $request->url,
            CURLOPT_PROTOCOLS_STR => 'http,https',
            CURLOPT_AWS_SIGV4 => "aws:amz:{$this->address->region}:s3",
            CURLOPT_USERPWD => "{$this->address->accessKeyId}:{$this->address->secretAccessKey}",
            CURLOPT_HTTPHEADER => [
                'x-amz-content-sha256: ' . bin2hex($request->payload->sha256 ?? hash('sha256', '', true)),
                'Expect:', // a store that does not know it would cost a second of waiting
                ...$request->fields,
            ],
            CURLOPT_TIMEOUT_MS => $milliseconds,
            CURLOPT_CONNECTTIMEOUT_MS => (int) min($milliseconds, 1000 * self::CONNECT_TIMEOUT_SECONDS),
            CURLOPT_LOW_SPEED_LIMIT => self::LEAST_BYTES_PER_SECOND,
            CURLOPT_LOW_SPEED_TIME => self::SLOW_SECONDS,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => $this->readField(...),
            CURLOPT_WRITEFUNCTION => fn(CurlHandle $curl, string $bytes): int => $this->readBody(
                $request,
                $bytes,
            ),
        ];
    }

    /**
     * @param ?resource $upload
     * @return array<int, mixed>
     */
    private function method(Request $request, mixed $upload): array
    {
        return match ($request->method) {
            'HEAD' => [CURLOPT_NOBODY => true],
            'PUT' => [
                CURLOPT_UPLOAD => true,
                CURLOPT_INFILE => $upload,
                CURLOPT_INFILESIZE => $request->payload?->bytes,
            ],
            default => [CURLOPT_CUSTOMREQUEST => $request->method],
        };
    }

    private function readField(CurlHandle $curl, string $line): int
    {
        $parts = explode(':', $line, 2);
        if (count($parts) === 2) {
            $this->fields[strtolower(trim($parts[0]))] = trim($parts[1]);
        }

        return strlen($line);
    }

    /** @return int fewer bytes than came stop the transfer */
    private function readBody(Request $request, string $bytes): int
    {
        $isContent = curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE) === 200;
        $this->received += strlen($bytes);
        if ($isContent && $this->received > $request->mostBytes) {
            $this->isTooLarge = true;

            return -1;
        }
        if ($isContent && $request->sink !== null) {
            return (int) @fwrite($request->sink, $bytes);
        }
        if ($isContent || $this->received <= self::MOST_ERROR_BYTES) {
            $this->body .= $bytes;
        }

        return strlen($bytes);
    }
}

/** No whole answer came. The request may have been carried out all the same. */
final class TransportFailure extends Exception
{
    public function __construct(string $message, public readonly bool $isTooLarge = false)
    {
        parent::__construct($message);
    }
}

/** A request to the store, not signed yet. */
final readonly class Request
{
    /**
     * @param string $key what is asked for, in messages
     * @param list<string> $fields more header fields
     * @param ?resource $sink where the body of a 200 goes; null for the memory
     */
    public function __construct(
        public string $method,
        public string $url,
        public string $key,
        public array $fields = [],
        public ?Payload $payload = null,
        public int $mostBytes = 65_536,
        public mixed $sink = null,
    ) {}
}

/** What the store answered. */
final readonly class Response
{
    /** @param array<string, string> $fields by name in lower case */
    public function __construct(public int $status, public array $fields, public string $body) {}

    public function field(string $name): string
    {
        return $this->fields[$name] ?? '';
    }

    /** S3's code of an error, such as AccessDenied. Nothing else of an error's body is used: it may quote a key. */
    public function errorCode(): string
    {
        return preg_match('~<Code>([A-Za-z]{1,64})</Code>~', $this->body, $match) === 1 ? $match[1] : '';
    }
}

/** What is written to the store: a text, or a file that is never in memory as a whole. */
final readonly class Payload
{
    private const int CHUNK_BYTES = 262_144;

    /**
     * @param string $sha256 32 bytes
     * @param string $md5 hexadecimal, as in the ETag of an object that was written at once
     */
    private function __construct(
        public int $bytes,
        public string $sha256,
        public string $md5,
        private ?string $path,
        private string $text,
    ) {}

    public static function text(string $text): self
    {
        return new self(strlen($text), hash('sha256', $text, true), md5($text), null, $text);
    }

    /** Reads the file once, for its hashes. */
    public static function file(string $path): self
    {
        [$sha256, $md5, $bytes] = [hash_init('sha256'), hash_init('md5'), 0];
        $file = self::openFile($path);
        while (($chunk = (string) fread($file, self::CHUNK_BYTES)) !== '') {
            hash_update($sha256, $chunk);
            hash_update($md5, $chunk);
            $bytes += strlen($chunk);
        }
        fclose($file);

        return new self($bytes, hash_final($sha256, true), hash_final($md5), $path, '');
    }

    /** @return resource from its beginning */
    public function open(): mixed
    {
        if ($this->path !== null) {
            return self::openFile($this->path);
        }
        $stream = fopen('php://memory', 'r+');
        fwrite($stream, $this->text);
        rewind($stream);

        return $stream;
    }

    /** base64url without padding: 43 characters. */
    public function name(): string
    {
        return rtrim(strtr(base64_encode($this->sha256), '+/', '-_'), '=');
    }

    /** @return resource */
    private static function openFile(string $path): mixed
    {
        return @fopen($path, 'rb') ?: throw new RuntimeException("cannot read $path");
    }
}

/** Where a store is and who asks: `s3://bucket/prefix`, at an endpoint that speaks S3. */
final readonly class StoreAddress
{
    public const string URL_EXPECTED = 's3://, a bucket of 3 to 63 characters and perhaps a prefix, for example s3://lists/production';

    private const string URL = '~^s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/[A-Za-z0-9._-]+)*)/?$~D';
    private const string ENDPOINT = '~^https?://(?:\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?/?$~Di';

    private function __construct(
        public string $endpoint,
        public string $bucket,
        /** With a slash at its end, or empty. */
        public string $prefix,
        public string $region,
        #[SensitiveParameter] public string $accessKeyId,
        #[SensitiveParameter] public string $secretAccessKey,
    ) {}

    /**
     * @param string $endpoint scheme, host and port
     * @return ?self null when $url is not such an address
     */
    public static function read(
        string $url,
        string $endpoint,
        string $region,
        #[SensitiveParameter] string $accessKeyId,
        #[SensitiveParameter] string $secretAccessKey,
    ): ?self {
        if (preg_match(self::URL, $url, $match) !== 1 || preg_match('~/\.\.?(?:/|$)~', $match[2]) === 1) {
            return null;
        }
        $prefix = $match[2] === '' ? '' : substr($match[2], 1) . '/';

        return new self(rtrim($endpoint, '/'), $match[1], $prefix, $region, $accessKeyId, $secretAccessKey);
    }

    public static function isEndpoint(string $text): bool
    {
        return preg_match(self::ENDPOINT, $text) === 1;
    }

    /** As in settings and messages; without what is secret. */
    public function name(): string
    {
        return rtrim("s3://$this->bucket/$this->prefix", '/');
    }

    /**
     * @param string $key relative to the prefix; null for the bucket itself
     * @param array<string, string> $query
     */
    public function url(?string $key, array $query = []): string
    {
        $path =
            $key === null
                ? ''
                : '/' . implode('/', array_map(rawurlencode(...), explode('/', $this->prefix . $key)));
        ksort($query, SORT_STRING);
        $pairs = array_map(
            static fn(string $name, string $value): string => "$name=" . rawurlencode($value),
            array_keys($query),
            $query,
        );

        return "$this->endpoint/$this->bucket$path" . ($pairs === [] ? '' : '?' . implode('&', $pairs));
    }
}

/** Until when everything has to be done, by a clock that is never set. */
final readonly class Deadline
{
    private float $at;

    public function __construct(public float $seconds)
    {
        $this->at = hrtime(true) / 1e9 + $seconds;
    }

    /** Zero or less when nothing is left. */
    public function secondsLeft(): float
    {
        return $this->at - hrtime(true) / 1e9;
    }
}
