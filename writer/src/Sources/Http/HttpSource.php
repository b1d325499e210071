<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

use Override;
use Psr\Clock\ClockInterface;
use SensitiveParameter;
use Symfony\Component\HttpClient\HttpClient;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Sources\Pause;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SourceKind;
use TrendVault\Writer\Sources\SpoolFile;
use TrendVault\Writer\Sources\Transfer;
use TrendVault\Writer\WriterException;

/** A file of NDJSON on an HTTP server, plain or gzip: a data warehouse's export, an answer of a database, an object. */
final class HttpSource extends Source
{
    /** @var ?array{stream: resource, bytes: int, etag: ?string} */
    private ?array $download = null;
    private bool $isRead = false;
    private bool $isUnchanged = false;

    /** @param int $readingSeconds what reading it may take once it is here */
    public function __construct(
        private readonly HttpUrl $url,
        private readonly Downloader $downloader,
        private readonly KnownVersions $versions,
        private readonly ClockInterface $clock,
        private readonly int $readingSeconds,
    ) {}

    #[Override]
    public function name(): string
    {
        $path = NdjsonFile::withoutEnding($this->url->label());

        return trim((string) preg_replace('/[^a-z0-9.]+/i', '-', substr($path, 0, 120)), '-');
    }

    /** Two addresses can have one name: their queries are not in it. */
    #[Override]
    public function ownName(): string
    {
        return $this->name() . '-' . substr(hash('sha256', $this->url->url), 0, 8);
    }

    /** None when nothing has changed since it was read. */
    #[Override]
    public function lines(): iterable
    {
        $this->download = $this->fetch();
        if ($this->download === null) {
            $this->isUnchanged = true;
            $this->versions->saveUnchanged($this->url->url, $this->now());

            return;
        }
        yield from new NdjsonFile(
            $this->url->label(),
            $this->readingSeconds,
            $this->download['stream'],
        )->lines();
        $this->isRead = true;
    }

    #[Override]
    public function isUnchanged(): bool
    {
        return $this->isUnchanged;
    }

    #[Override]
    public function progress(): ?float
    {
        if ($this->download === null) {
            return null;
        }
        $position = ftell($this->download['stream']);

        return $position === false ? null : $position / max(1, $this->download['bytes']);
    }

    /** What was read to its end is not read again, whatever was rejected of it: the same lines would be again. */
    #[Override]
    public function settle(bool $clean): void
    {
        if ($this->isRead) {
            $this->versions->saveRead($this->url->url, $this->download['etag'] ?? null, $this->now());
        }
    }

    /**
     * @return ?array{stream: resource, bytes: int, etag: ?string}
     * @throws SourceFailure
     */
    private function fetch(): ?array
    {
        try {
            return $this->downloader->fetch($this->url, $this->versions->etag($this->url->url, $this->now()));
        } catch (SourceFailure $failure) {
            if ($failure->pauseSeconds > 0) {
                $this->versions->savePause($this->url, $this->now() + $failure->pauseSeconds, $this->now());
            }
            throw $failure;
        }
    }

    private function now(): int
    {
        return $this->clock->now()->getTimestamp();
    }
}

/** Downloads a file before a line of it is read: a connection that breaks leaves nothing half stored. One request, no retry: the next run asks again. */
final readonly class Downloader
{
    private const float IDLE_TIMEOUT_SECONDS = 10.0;

    /**
     * @param string $folder where what is received lies until it is read
     * @param array<string, string> $authorizations header fields by host, and port where it is not the usual one: no host gets another one's
     */
    public function __construct(
        private HttpClientInterface $client,
        private string $folder,
        private int $timeoutSeconds,
        private int $mostBytes,
        #[SensitiveParameter] private array $authorizations,
    ) {}

    /**
     * @return ?array{stream: resource, bytes: int, etag: ?string} the stream at its beginning: the file has no name any more
     *   and goes with it; no entity tag where the body may have been cut. Null when the file is still the version of $etag
     * @throws SourceFailure
     */
    public function fetch(HttpUrl $url, ?string $etag): ?array
    {
        $response = null;
        try {
            $response = $this->request($url, $etag);
            $status = $response->getStatusCode();
            if ($status === 304 && $etag !== null) {
                return null;
            }

            return $status === 200 ? $this->receive($response, $url) : throw self::refusal($response, $url);
        } catch (TransportExceptionInterface $failure) {
            throw SourceFailure::because(
                "Cannot read {$url->label()}: " . Transfer::reason($failure) . '. Nothing of it is stored.',
            );
        } finally {
            $response?->cancel();
        }
    }

    /** @throws TransportExceptionInterface when there can be no such request */
    private function request(HttpUrl $url, ?string $etag): ResponseInterface
    {
        return $this->client->request('GET', $url->url, [
            'headers' => self::headers($etag, $this->authorizations[$url->host] ?? null),
            'max_redirects' => 0,
            'timeout' => min(self::IDLE_TIMEOUT_SECONDS, $this->timeoutSeconds),
            'max_duration' => $this->timeoutSeconds,
            'buffer' => false,
        ]);
    }

    /** @return array<string, string> */
    private static function headers(?string $etag, #[SensitiveParameter] ?string $authorization): array
    {
        return [
            'Accept' => 'application/x-ndjson, application/jsonl, */*;q=0.5',
            'Accept-Encoding' => 'gzip',
            ...$etag === null ? [] : ['If-None-Match' => $etag],
            ...$authorization === null ? [] : ['Authorization' => $authorization],
        ];
    }

    /**
     * @return array{stream: resource, bytes: int, etag: ?string}
     * @throws SourceFailure|TransportExceptionInterface
     */
    private function receive(ResponseInterface $response, HttpUrl $url): array
    {
        $headers = $response->getHeaders(false);
        $coding = strtolower($headers['content-encoding'][0] ?? 'identity');
        if (!in_array($coding, ['identity', 'gzip', 'x-gzip'], true)) {
            throw SourceFailure::because(
                "Cannot read {$url->label()}: it comes in the coding $coding, expected gzip or none. Nothing of it is stored.",
            );
        }
        $stream = $this->openUnnamed();
        $bytes = 0;
        foreach ($this->client->stream($response) as $chunk) {
            $content = $chunk->getContent();
            $bytes += strlen($content);
            if ($bytes > $this->mostBytes) {
                throw SourceFailure::because(
                    "Cannot read {$url->label()}: it has more than $this->mostBytes bytes. Nothing of it is stored.",
                );
            }
            if (@fwrite($stream, $content) !== strlen($content)) {
                throw SourceFailure::because(
                    "Cannot read {$url->label()}: no room for it in $this->folder. Nothing of it is stored.",
                );
            }
        }
        rewind($stream);

        return [
            'stream' => $stream,
            'bytes' => $bytes,
            'etag' => self::saysItsEnd($response, $headers) ? Transfer::entityTag($headers) : null,
        ];
    }

    /**
     * Else the body ends with the connection, and nobody knows whether it was cut (RFC 9112, 6.3): with its entity tag,
     * the rest would never be asked for.
     *
     * @param array<array<string>> $headers by their names in lower case
     */
    private static function saysItsEnd(ResponseInterface $response, array $headers): bool
    {
        return isset($headers['content-length']) ||
            isset($headers['transfer-encoding']) ||
            (int) $response->getInfo('http_version') >= CURL_HTTP_VERSION_2_0;
    }

    /**
     * A file without a name: a run that is killed leaves nothing behind.
     *
     * @return resource
     * @throws SourceFailure
     */
    private function openUnnamed(): mixed
    {
        $path = "$this->folder/.download-" . (int) getmypid();
        @unlink($path);
        $stream = @fopen($path, 'x+b');
        if ($stream === false) {
            throw SourceFailure::because("Cannot write into $this->folder, where what is downloaded lies.");
        }
        unlink($path);

        return $stream;
    }

    private static function refusal(ResponseInterface $response, HttpUrl $url): SourceFailure
    {
        $status = $response->getStatusCode();
        $headers = $response->getHeaders(false);
        $seconds = Transfer::retryAfter($headers);
        if ($seconds > 0 && in_array($status, [429, 503], true)) {
            return SourceFailure::pause(
                "Cannot read {$url->label()}: the server answers $status, and asks for a pause of $seconds s. It is not asked before.",
                $seconds,
            );
        }
        $advice = match (true) {
            $status === 401 || $status === 403
                => ' Name its host and credentials in HTTP_SOURCE_AUTHORIZATION.',
            $status >= 300 && $status < 400 && isset($headers['location'])
                => ' It redirects: put the address that it leads to into SOURCES.',
            default => '',
        };

        return SourceFailure::because("Cannot read {$url->label()}: the server answers $status.$advice");
    }
}

/** The address of a file of NDJSON as SOURCES has it: `http:https://stats.example/views.ndjson`. */
final readonly class HttpUrl
{
    private const string PREFIX = 'http:';

    /** A comma separates sources, a fragment is never sent, and a user's name would be in logs. */
    private const string URL = '~^(https?)://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?([/?][!"$-+\--;=?-_a-\~%]*)?$~Di';
    private const string EXAMPLE = 'http:https://stats.example/views.ndjson';

    private function __construct(public string $url, public string $host) {}

    /** @throws SourceFailure */
    public static function read(string $name): self
    {
        $url = substr($name, strlen(self::PREFIX));
        if (preg_match(self::URL, $url, $match) !== 1) {
            throw SourceFailure::because(
                'Cannot read ' .
                    self::withoutSecrets($name) .
                    ': expected http: and an address without a user, for example ' .
                    self::EXAMPLE .
                    '. Write a comma as %2C.',
            );
        }
        if (!Transfer::isPrivate($match[1], $match[2])) {
            throw SourceFailure::because(
                'Cannot read ' .
                    self::withoutSecrets($name) .
                    ': expected https. Plain http is for this machine only: localhost, 127.0.0.1 and [::1].',
            );
        }

        return new self($url, strtolower($match[2] . ($match[3] ?? '')));
    }

    /** For people and file names: a query may have a key in it, a path may be long. */
    public function label(): string
    {
        return self::withoutSecrets($this->url);
    }

    private static function withoutSecrets(string $url): string
    {
        return (string) preg_replace(['~//[^/?#]*@~', '~[?#].*~s'], ['//', ''], $url);
    }
}

/** Which version of each address was read last, and which are not to be asked yet. An address is kept as its hash: it may have a key in it. */
final readonly class KnownVersions
{
    private const string SAVE_READ = <<<'SQL'
    INSERT INTO http_sources (url_hash, etag, asked_at, read_at, retry_at) VALUES (?1, ?2, ?3, ?3, 0)
    ON CONFLICT DO UPDATE SET etag = ?2, asked_at = ?3, read_at = ?3, retry_at = 0, host = NULL
    SQL;
    private const string SAVE_PAUSE = <<<'SQL'
    INSERT INTO http_sources (url_hash, etag, asked_at, retry_at, host) VALUES (?1, '', ?2, ?3, ?4)
    ON CONFLICT DO UPDATE SET asked_at = ?2, retry_at = ?3, host = ?4
    SQL;

    /** @param int $validSeconds after so long a file is read again though it is the same: what it announces would end by age */
    public function __construct(private Database $database, private int $validSeconds) {}

    /** The entity tag of what was read to its end; null when nothing was, it had none, or it has to be read again. */
    public function etag(string $url, int $now): ?string
    {
        return $this->database->text(
            "SELECT nullif(etag, '') FROM http_sources WHERE url_hash = ? AND read_at BETWEEN ? AND ?",
            [self::hash($url), $now - $this->validSeconds, $now],
        );
    }

    /** UTC seconds; 0 when it may be asked: also where it was last asked by a clock that was ahead, as that says nothing. */
    public function retryAt(string $url, int $now): int
    {
        $sql = 'SELECT retry_at FROM http_sources WHERE url_hash = ? AND asked_at <= ?';

        return $this->database->number($sql, [self::hash($url), $now]) ?? 0;
    }

    public function saveRead(string $url, ?string $etag, int $now): void
    {
        $this->database->run(self::SAVE_READ, [self::hash($url), $etag ?? '', $now]);
    }

    /** Once an hour is enough to see that it is asked for. */
    public function saveUnchanged(string $url, int $now): void
    {
        $this->database->run(
            'UPDATE http_sources SET asked_at = ?1, retry_at = 0 WHERE url_hash = ?2 AND asked_at < ?1 - 3600',
            [$now, self::hash($url)],
        );
    }

    public function savePause(HttpUrl $url, int $retryAt, int $now): void
    {
        $this->database->run(self::SAVE_PAUSE, [self::hash($url->url), $now, $retryAt, $url->host]);
    }

    private static function hash(string $url): string
    {
        return hash('sha256', $url);
    }
}

/** Files on other servers: http:URL. */
final readonly class HttpFiles implements SourceKind
{
    public const array FORGET = ['DELETE FROM http_sources WHERE max(asked_at, retry_at) < ?'];

    private const int TIMEOUT_SECONDS = 40;
    /** So often a file is read that never changes. */
    private const int READINGS_IN_RETENTION = 4;
    /** Of a file as it is sent. */
    private const int MOST_BYTES = 1_000_000_000;
    private const string AUTHORIZATION = '/^([a-z0-9.:\[\]-]+)\s+([!-~]+(?: [!-~]+)*)$/Di';

    public function __construct(private Context $context, private Database $database) {}

    /** @return iterable<string, HttpSource> none while the server wants to be left alone */
    #[Override]
    public function open(array $names): iterable
    {
        foreach ($names as $name) {
            $url = HttpUrl::read($name);
            $settings = $this->context->settings;
            $versions = new KnownVersions(
                $this->database,
                intdiv($settings->observationRetentionHours * 3600, self::READINGS_IN_RETENTION),
            );
            $now = $this->context->now();
            $retryAt = $versions->retryAt($url->url, $now);
            if ($now < $retryAt) {
                new Pause("http:$url->host", $retryAt, 'The server asks for a pause.')->log(
                    $this->context->log,
                );
                continue;
            }
            $downloader = new Downloader(
                HttpClient::create(),
                dirname($settings->databasePath),
                $settings->sourceTimeoutSeconds(self::TIMEOUT_SECONDS),
                self::MOST_BYTES,
                self::authorizations($settings->secret('HTTP_SOURCE_AUTHORIZATION') ?? ''),
            );
            yield $name => new HttpSource(
                $url,
                $downloader,
                $versions,
                $this->context->clock,
                $settings->sourceTimeoutSeconds(SpoolFile::TIMEOUT_SECONDS),
            );
        }
    }

    /**
     * @return array<string, string>
     * @throws WriterException which does not repeat the value
     */
    private static function authorizations(#[SensitiveParameter] string $value): array
    {
        $byHost = [];
        foreach (array_filter(array_map(trim(...), explode(',', $value))) as $number => $part) {
            $match = [];
            if (preg_match(self::AUTHORIZATION, $part, $match) !== 1) {
                throw WriterException::usage(
                    'HTTP_SOURCE_AUTHORIZATION: part ' .
                        ($number + 1) .
                        ' is not a host and what it is sent, for example "stats.example Bearer abc, other.example Basic dXNlcjpr".',
                );
            }
            $byHost[strtolower($match[1])] = $match[2];
        }

        return $byHost;
    }
}
