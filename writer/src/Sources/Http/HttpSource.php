<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

use Generator;
use Override;
use Psr\Clock\ClockInterface;
use SensitiveParameter;
use Symfony\Component\HttpClient\HttpClient;
use Symfony\Contracts\HttpClient\ChunkInterface;
use Symfony\Contracts\HttpClient\Exception\TimeoutExceptionInterface;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Sources\Pause;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\SideBySide;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SourceKind;
use TrendVault\Writer\Sources\SpoolFile;
use TrendVault\Writer\Sources\Transfer;
use TrendVault\Writer\WriterException;

/** A file of NDJSON on an HTTP server, plain or gzip: a data warehouse's export, an answer of a database, an object. */
final class HttpSource extends Source
{
    private bool $isRead = false;

    /**
     * @param Download|SourceFailure|null $received null when nothing has changed since it was read
     * @param int $readingSeconds what reading it may take
     */
    public function __construct(
        private readonly HttpUrl $url,
        private readonly Download|SourceFailure|null $received,
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
        if ($this->received instanceof SourceFailure) {
            throw $this->received;
        }
        if ($this->received !== null) {
            yield from new NdjsonFile(
                $this->url->label(),
                $this->readingSeconds,
                $this->received->stream,
            )->lines();
            $this->isRead = true;
        }
    }

    #[Override]
    public function isUnchanged(): bool
    {
        return $this->received === null;
    }

    #[Override]
    public function progress(): ?float
    {
        if (!($this->received instanceof Download)) {
            return null;
        }
        $position = ftell($this->received->stream);

        return $position === false ? null : $position / max(1, $this->received->bytes);
    }

    /** What was read to its end is not read again, whatever was rejected of it: the same lines would be again. */
    #[Override]
    public function settle(bool $clean): void
    {
        if ($this->isRead && $this->received instanceof Download) {
            $now = $this->clock->now()->getTimestamp();
            $this->versions->saveRead($this->url->url, $this->received->etag, $now);
        }
    }
}

/** What was received. */
final readonly class Download
{
    /**
     * @param resource $stream at its beginning: the file has no name any more and goes with it
     * @param ?string $etag null where the body may have been cut
     */
    public function __construct(public mixed $stream, public int $bytes, public ?string $etag) {}
}

/**
 * Downloads files side by side before a line of them is read: a connection that breaks leaves nothing half stored. One
 * request each, no retry: the next run asks again.
 */
final readonly class Downloader
{
    private const float IDLE_TIMEOUT_SECONDS = 10.0;

    private SideBySide $sideBySide;

    /**
     * @param string $folder where what is received lies until it is read
     * @param array<string, string> $authorizations header fields by host, and port where it is not the usual one: no host gets another one's
     */
    public function __construct(
        private HttpClientInterface $client,
        private string $folder,
        private RunTime $time,
        private int $mostBytes,
        #[SensitiveParameter] private array $authorizations,
    ) {
        $this->sideBySide = new SideBySide($client);
    }

    /**
     * @template K of array-key
     * @param array<K, HttpUrl> $urls
     * @param array<K, ?string> $etags of the versions that are known
     * @return array<K, Download|SourceFailure|null> in their order; null for one that is still the known version
     */
    public function fetch(array $urls, array $etags = []): array
    {
        $received = array_fill_keys(array_keys($urls), null);
        $tasks = (function () use ($urls, $etags, &$received): Generator {
            foreach ($urls as $key => $url) {
                yield function () use ($key, $url, $etags, &$received): void {
                    try {
                        $received[$key] = $this->download($url, $etags[$key] ?? null);
                    } catch (SourceFailure $failure) {
                        $received[$key] = $failure;
                    }
                };
            }
        })();
        $this->sideBySide->run($tasks);

        return $received;
    }

    /** @throws SourceFailure */
    private function download(HttpUrl $url, ?string $etag): ?Download
    {
        $response = null;
        try {
            $response = $this->request($url, $etag);
            $this->chunk($response, $url);
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

    /** @throws SourceFailure|TransportExceptionInterface */
    private function chunk(ResponseInterface $response, HttpUrl $url): ChunkInterface
    {
        $left = $this->time->secondsLeft();
        $idle = min(self::IDLE_TIMEOUT_SECONDS, $this->time->seconds);
        try {
            return $this->sideBySide->chunk($response, min($idle, $left));
        } catch (TimeoutExceptionInterface) {
            // The shorter of the two ended it, also where a busy machine finds out when both are over.
            throw SourceFailure::silent(
                "Cannot read {$url->label()}",
                $left < $idle
                    ? "it did not come whole in SOURCE_TIMEOUT_SECONDS={$this->time->seconds}, the time of all sources together. If it is only slow, raise that."
                    : "nothing of it came in $idle s. Does its address answer here (curl -I)?",
            );
        }
    }

    /** @throws TransportExceptionInterface when there can be no such request */
    private function request(HttpUrl $url, ?string $etag): ResponseInterface
    {
        return $this->client->request('GET', $url->url, [
            'headers' => self::headers($etag, $this->authorizations[$url->host] ?? null),
            'max_redirects' => 0,
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

    /** @throws SourceFailure|TransportExceptionInterface */
    private function receive(ResponseInterface $response, HttpUrl $url): Download
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
        do {
            $chunk = $this->chunk($response, $url);
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
        } while (!$chunk->isLast());
        rewind($stream);
        $etag = self::saysItsEnd($response, $headers) ? Transfer::entityTag($headers) : null;

        return new Download($stream, $bytes, $etag);
    }

    /**
     * Else the body ends with the connection, and nobody knows whether it was cut (RFC 9112, 6.3): with its entity tag,
     * the rest would never be asked for.
     *
     * @param array<array<string>> $headers by their names in lower case
     */
    private static function saysItsEnd(ResponseInterface $response, array $headers): bool
    {
        $codings = $headers['transfer-encoding'] ?? null; // others than chunked, as identity was, end with the connection

        return ($codings === null && isset($headers['content-length'])) ||
            preg_match('/(?:^|,)\s*chunked\s*$/i', implode(',', $codings ?? [])) === 1 ||
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
    ON CONFLICT DO UPDATE SET etag = ?2, asked_at = ?3, read_at = ?3, retry_at = 0, host = NULL, silent_runs = 0, failure = NULL
    SQL;
    private const string SAVE_ANSWER = <<<'SQL'
    UPDATE http_sources SET asked_at = ?1, retry_at = 0, host = NULL, silent_runs = 0, failure = NULL
    WHERE url_hash = ?2 AND (asked_at < ?3 OR silent_runs > 0)
    SQL;
    private const string SAVE_PAUSE = <<<'SQL'
    INSERT INTO http_sources (url_hash, etag, asked_at, retry_at, host, silent_runs, failure) VALUES (?1, '', ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT DO UPDATE SET asked_at = ?2, retry_at = ?3, host = ?4, silent_runs = ?5, failure = ?6
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

    /** Null when it may be asked: also where it was last asked by a clock that was ahead, as that says nothing. */
    public function pause(HttpUrl $url, int $now): ?Pause
    {
        /** @var ?array{retry_at: int, failure: ?string} $row */
        $row = $this->database->row(
            'SELECT retry_at, failure FROM http_sources WHERE url_hash = ?1 AND asked_at <= ?2 AND retry_at > ?2',
            [self::hash($url->url), $now],
        );

        return $row === null
            ? null
            : new Pause("http:$url->host", $row['retry_at'], $row['failure'] ?? Pause::WISH);
    }

    /** How many runs in a row waited for it in vain. */
    public function silentRuns(string $url): int
    {
        $sql = 'SELECT silent_runs FROM http_sources WHERE url_hash = ?';

        return $this->database->number($sql, [self::hash($url)]) ?? 0;
    }

    public function saveRead(string $url, ?string $etag, int $now): void
    {
        $this->database->run(self::SAVE_READ, [self::hash($url), $etag ?? '', $now]);
    }

    /** Once an hour is enough to see that it is asked for. */
    public function saveAnswer(string $url, int $now): void
    {
        $this->database->run(self::SAVE_ANSWER, [$now, self::hash($url), $now - 3600]);
    }

    /** The server asks for a pause. */
    public function savePause(HttpUrl $url, int $seconds, int $now): void
    {
        $this->pauseUntil($url, $now + $seconds, $now, 0, Pause::WISH);
    }

    /**
     * The server held the run: the time to the next request doubles.
     *
     * @return Pause until then
     */
    public function saveSilence(HttpUrl $url, string $reason, int $now): Pause
    {
        $runs = $this->silentRuns($url->url) + 1;
        $retryAt = $now + Schedule::delaySeconds($runs, Schedule::LONGEST_DELAY_OF_EACH_RUN);
        $this->pauseUntil($url, $retryAt, $now, $runs, $reason);

        return new Pause("http:$url->host", $retryAt, $reason);
    }

    private function pauseUntil(HttpUrl $url, int $retryAt, int $now, int $silentRuns, string $reason): void
    {
        $this->database->run(self::SAVE_PAUSE, [
            self::hash($url->url),
            $now,
            $retryAt,
            $url->host,
            $silentRuns,
            $reason,
        ]);
    }

    private static function hash(string $url): string
    {
        return hash('sha256', $url);
    }
}

/** Files on other servers: http:URL. */
final readonly class HttpFiles implements SourceKind
{
    public const bool REMOTE = true;
    public const array FORGET = ['DELETE FROM http_sources WHERE max(asked_at, retry_at) < ?'];

    /** So often a file is read that never changes. */
    private const int READINGS_IN_RETENTION = 4;
    /** Of a file as it is sent. */
    private const int MOST_BYTES = 1_000_000_000;
    private const string AUTHORIZATION = '/^([a-z0-9.:\[\]-]+)\s+([!-~]+(?: [!-~]+)*)$/Di';

    private KnownVersions $versions;

    public function __construct(private Context $context, Database $database)
    {
        $seconds = $context->settings->observationRetentionHours * 3600;
        $this->versions = new KnownVersions($database, intdiv($seconds, self::READINGS_IN_RETENTION));
    }

    /**
     * Those that come side by side are read in their order before the next ones are asked for, so that few lie on the disk.
     *
     * @return iterable<string, HttpSource|SourceFailure>
     */
    #[Override]
    public function open(array $names, RunTime $time): iterable
    {
        $settings = $this->context->settings;
        $authorizations = self::authorizations($settings->secret('HTTP_SOURCE_AUTHORIZATION') ?? '');
        $client = HttpClient::create([], SideBySide::MOST);
        $folder = dirname($settings->databasePath);
        $downloader = new Downloader($client, $folder, $time, self::MOST_BYTES, $authorizations);
        $due = [];
        foreach ($names as $name) {
            try {
                $due[$name] = HttpUrl::read($name);
            } catch (SourceFailure $failure) {
                yield $name => $failure;
            }
        }
        $batches = array_chunk($this->inTurn($due), SideBySide::MOST, true);
        while ($batches !== [] && $time->secondsLeft() > 0) {
            yield from $this->read(array_shift($batches), $downloader, $time);
        }
        if ($batches !== []) {
            $time->logPostponed($this->context->log, 'http', count(array_merge(...$batches)));
        }
    }

    /**
     * Those that the last runs waited for in vain come last. Of many, a random one begins: none waits for ever behind
     * slow ones.
     *
     * @param array<string, HttpUrl> $urls by name
     * @return array<string, HttpUrl> without those that are not to be asked yet
     */
    private function inTurn(array $urls): array
    {
        $answering = $silent = [];
        foreach ($urls as $name => $url) {
            $pause = $this->versions->pause($url, $this->context->now());
            if ($pause !== null) {
                $pause->log($this->context->log);
            } elseif ($this->versions->silentRuns($url->url) > 0) {
                $silent[$name] = $url;
            } else {
                $answering[$name] = $url;
            }
        }
        $first = count($answering) > SideBySide::MOST ? random_int(0, count($answering) - 1) : 0;

        return [
            ...array_slice($answering, $first, null, true),
            ...array_slice($answering, 0, $first, true),
            ...$silent,
        ];
    }

    /**
     * @param array<string, HttpUrl> $urls by name
     * @return iterable<string, HttpSource>
     */
    private function read(array $urls, Downloader $downloader, RunTime $time): iterable
    {
        $now = $this->context->now();
        $etags = array_map(fn(HttpUrl $url): ?string => $this->versions->etag($url->url, $now), $urls);
        $received = $downloader->fetch($urls, $etags);
        $time->pause();
        foreach ($urls as $name => $url) {
            yield $name => new HttpSource(
                $url,
                $this->noted($url, $received[$name]),
                $this->versions,
                $this->context->clock,
                $this->context->settings->sourceTimeoutSeconds(SpoolFile::TIMEOUT_SECONDS),
            );
        }
        $time->resume();
    }

    /** Notes when it may be asked again. */
    private function noted(HttpUrl $url, Download|SourceFailure|null $received): Download|SourceFailure|null
    {
        $now = $this->context->now();
        if (!($received instanceof SourceFailure)) {
            $this->versions->saveAnswer($url->url, $now);
        } elseif ($received->silence !== null) {
            $pause = $this->versions->saveSilence($url, $received->silence, $now);

            return SourceFailure::because(
                "{$received->getMessage()} It is not asked before {$pause->facts()['until']}.",
            );
        } elseif ($received->pauseSeconds > 0) {
            $this->versions->savePause($url, $received->pauseSeconds, $now);
        } else {
            $this->versions->saveAnswer($url->url, $now);
        }

        return $received;
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
