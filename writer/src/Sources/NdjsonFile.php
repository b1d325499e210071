<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;
use Override;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\WriterException;

/**
 * A file of NDJSON, plain or gzip (RFC 1952), whatever it is called; or a stream of it. Holds at most one chunk and one
 * line of LONGEST_BYTES.
 *
 * SIGTERM and SIGINT while a claimed file is read end the run at the next chunk, so that the file can be given back. At all
 * other times they end the process at once, which loses nothing. Without PHP's pcntl they always do.
 */
final class NdjsonFile extends Source
{
    public const int LONGEST_BYTES = 1024 * 1024;
    /** GzipMember looks for it again at each member. */
    private const string GZIP = "\x1f\x8b";
    private const int CHUNK_BYTES = 256 * 1024;
    private const int PACKED_CHUNK_BYTES = 4 * 1024;
    /**
     * Unpacking may make a piece a thousand times larger, and of a piece with damaged data PHP gives nothing. Such
     * small pieces take no longer than large ones.
     */
    private const int PIECE_BYTES = 64;
    private const string BYTE_ORDER_MARK = "\xEF\xBB\xBF";

    private const string ENDING = '/\.ndjson(\.gz)?$/D';
    private const int DIGESTED_BYTES = 16 * 1024 * 1024;

    private static bool $isStopping = false;

    /** @var ?resource while it is read */
    private mixed $stream = null;
    /** Once it was read to its end. */
    private ?int $bytesRead = null;
    /** When reading it began, in nanoseconds; its digest reads it, too. */
    private ?int $startedAt = null;

    /**
     * @param string $path of the file, or what a message calls the stream
     * @param ?int $timeoutSeconds what reading it and what is done with its lines may take together; null for no limit
     * @param ?resource $pipe is read instead of the file, once
     */
    public function __construct(
        private readonly string $path,
        private readonly ?int $timeoutSeconds = null,
        private readonly mixed $pipe = null,
    ) {}

    /** Whether a folder's file is one to be read: another name, or one that starts with a dot, is not complete yet. */
    public static function isComplete(string $name): bool
    {
        return !str_starts_with($name, '.') && preg_match(self::ENDING, $name) === 1;
    }

    public static function withoutEnding(string $name): string
    {
        return (string) preg_replace('/\.ndjson(\.gz)?$|\.gz$/D', '', $name);
    }

    /**
     * The names of files in a folder, without those of `.` and `..`; in no order.
     *
     * @return Generator<string> nothing where there is no such folder
     * @throws SourceFailure when it cannot be read
     */
    public static function in(string $folder): Generator
    {
        $handle = @opendir($folder);
        if ($handle === false) {
            return is_dir($folder) ? throw SourceFailure::unreadable($folder) : null;
        }
        try {
            while (($name = readdir($handle)) !== false) {
                if ($name !== '.' && $name !== '..') {
                    yield $name;
                }
            }
        } finally {
            closedir($handle);
        }
    }

    #[Override]
    public function name(): string
    {
        return $this->pipe === null ? self::withoutEnding(basename($this->path)) : 'stdin';
    }

    /**
     * Empty lines are counted, not given.
     *
     * @throws SourceFailure also when gzip data is damaged or truncated
     * @throws WriterException when a signal stops the run
     */
    #[Override]
    public function lines(): iterable
    {
        if ($this->pipe !== null) {
            yield from $this->linesFrom($this->pipe);

            return;
        }
        $stream = $this->stream = $this->open();
        [$length] = $state = self::stateOf($stream);
        try {
            if ($length === 0) {
                throw SourceFailure::empty($this->path); // One of /proc may let its reader wait.
            }
            yield from $this->linesFrom($stream);
            $bytesRead = (int) ftell($stream);
            if ($bytesRead < $length && self::stateOf($stream) === $state) {
                throw SourceFailure::shorter($this->path); // One of /sys says that it has a page.
            }
            $this->bytesRead = $bytesRead ?: null;
        } finally {
            fclose($stream);
            $this->stream = null;
        }
    }

    /**
     * The lines of chunks, without the empty ones. In place of a line that is too long to hold in memory, or was cut off, come its
     * bytes in pieces, the last one with the reason why it is rejected.
     *
     * @param iterable<string> $chunks
     * @return Generator<int, string|array{string, ?RejectionReason}>
     * @throws SourceFailure as the chunks do, after what came before
     */
    public static function linesOf(iterable $chunks): Generator
    {
        [$number, $rest, $overlong] = [1, '', false];
        $chunks = self::withoutMark($chunks);
        try {
            foreach ($chunks as $chunk) {
                $lines = explode("\n", $rest . $chunk);
                $rest = array_pop($lines);
                if ($overlong && $lines !== []) {
                    yield $number++ => [array_shift($lines) . "\n", RejectionReason::TooLong];
                    $overlong = false;
                }
                foreach ($lines as $line) {
                    if (strlen($line) > self::LONGEST_BYTES) {
                        yield $number => ["$line\n", RejectionReason::TooLong];
                    } elseif ($line !== '' && $line !== "\r") {
                        yield $number => $line;
                    }
                    $number++;
                }
                if ($overlong || strlen($rest) > self::LONGEST_BYTES) {
                    yield $number => [$rest, null];
                    [$rest, $overlong] = ['', true];
                }
            }
        } catch (SourceFailure $failure) {
            yield from self::unfinished($number, $rest, $overlong);
            throw $failure;
        }
        yield from self::unfinished($number, $rest, $overlong);
    }

    public static function holdSignals(): void
    {
        self::handle(static function (): void {
            self::$isStopping = true;
        });
    }

    /** @throws WriterException when a signal came since holdSignals() */
    public static function releaseSignals(): void
    {
        self::handle(null);
        self::check();
    }

    /** The SHA-256 of its bytes in hexadecimal; null when it cannot be read, or not in its time: lines() says why. */
    public function digest(): ?string
    {
        try {
            $stream = $this->open();
        } catch (SourceFailure) {
            return null;
        }
        [$hash, $read, $length] = [hash_init('sha256'), 0, Database::lengthOf($stream)];
        do {
            self::check();
            $bytes = $length === 0 ? 0 : @hash_update_stream($hash, $stream, self::DIGESTED_BYTES);
            $read += $bytes;
            $isLate = $this->isLate();
        } while ($bytes > 0 && !$isLate);
        fclose($stream);

        return $isLate || $read < $length ? null : hash_final($hash);
    }

    /** Of its bytes, packed or not. */
    #[Override]
    public function progress(): ?float
    {
        if ($this->pipe !== null) {
            return null;
        }

        return $this->stream === null
            ? 1.0
            : (ftell($this->stream) ?: 0) / max(1, Database::lengthOf($this->stream));
    }

    /** Whether its producer has written to it since it was read. */
    public function hasChanged(): bool
    {
        clearstatcache(true, $this->path);

        return $this->bytesRead !== null && @filesize($this->path) !== $this->bytesRead;
    }

    /**
     * @param resource $stream
     * @return array{int, ?int} its length, and when it was changed last
     */
    private static function stateOf(mixed $stream): array
    {
        return [Database::lengthOf($stream), fstat($stream)['mtime'] ?? null];
    }

    /**
     * Does not wait for a writer where the path is a pipe.
     *
     * @return resource
     * @throws SourceFailure
     */
    private function open(): mixed
    {
        $stream = Database::openOther($this->path);
        if ($stream !== null) {
            return $stream;
        }

        throw match (true) {
            !file_exists($this->path) => SourceFailure::missing($this->path),
            !is_file($this->path) => SourceFailure::notAFile($this->path),
            Database::hasOpen(@stat($this->path)) => SourceFailure::theDatabase($this->path),
            default => SourceFailure::unreadable($this->path),
        };
    }

    /**
     * A UTF-8 byte order mark is no part of the first line (RFC 8259, section 8.1).
     *
     * @param iterable<string> $chunks
     * @return Generator<string>
     */
    private static function withoutMark(iterable $chunks): Generator
    {
        $head = '';
        foreach ($chunks as $chunk) {
            $head = $head === null ? null : $head . $chunk;
            if ($head === null) {
                yield $chunk;
            } elseif (strlen($head) >= strlen(self::BYTE_ORDER_MARK)) {
                yield str_starts_with($head, self::BYTE_ORDER_MARK)
                    ? substr($head, strlen(self::BYTE_ORDER_MARK))
                    : $head;
                $head = null;
            }
        }
        yield $head ?? '';
    }

    /**
     * What follows the last line end: a whole line whose end was forgotten, or the start of one.
     *
     * @return Generator<int, string|array{string, ?RejectionReason}>
     */
    private static function unfinished(int $number, string $rest, bool $overlong): Generator
    {
        if ($overlong) {
            yield $number => ["$rest\n", RejectionReason::TooLong];
        } elseif ($rest !== '') {
            yield $number => json_validate($rest) ? $rest : ["$rest\n", RejectionReason::CutOff];
        }
    }

    /**
     * @param resource $stream
     * @return Generator<int, string|array{string, ?RejectionReason}>
     */
    private function linesFrom(mixed $stream): Generator
    {
        return self::linesOf($this->chunks($stream));
    }

    /**
     * @param resource $stream
     * @return Generator<string> of bounded size, whatever the stream has
     */
    private function chunks(mixed $stream): Generator
    {
        foreach (self::bytes($stream, $this->path) as $chunk) {
            self::check();
            if ($this->isLate()) {
                throw SourceFailure::tooSlow($this->path, (int) $this->timeoutSeconds);
            }
            yield $chunk;
        }
    }

    private function isLate(): bool
    {
        $now = (int) hrtime(true);
        $this->startedAt ??= $now;

        return $this->timeoutSeconds !== null &&
            $now - $this->startedAt > $this->timeoutSeconds * 1_000_000_000;
    }

    /**
     * @param resource $stream
     * @return Generator<string>
     */
    private static function bytes(mixed $stream, string $name): Generator
    {
        $head = '';
        while (strlen($head) < strlen(self::GZIP) && !feof($stream)) {
            // a pipe may give a single byte
            $head .= self::read($stream, self::PACKED_CHUNK_BYTES, $name);
        }
        if ($head === '') {
            throw SourceFailure::empty($name);
        }
        if (str_starts_with($head, self::GZIP)) {
            yield from self::unpacked($stream, $head, $name);

            return;
        }
        for (
            $chunk = $head;
            $chunk !== '' || !feof($stream);
            $chunk = self::read($stream, self::CHUNK_BYTES, $name)
        ) {
            yield $chunk;
        }
    }

    /**
     * gzip files may be several members one after the other.
     *
     * @param resource $stream
     * @return Generator<string>
     */
    private static function unpacked(mixed $stream, string $chunk, string $name): Generator
    {
        $member = new GzipMember();
        while ($chunk !== '' || !feof($stream)) {
            foreach (str_split($chunk, self::PIECE_BYTES) as $piece) {
                while ($piece !== '') {
                    yield $member->unpack($piece) ?? throw SourceFailure::damagedGzip($name);
                    $isIntact = $member->isIntact($piece);
                    if ($isIntact === false) {
                        throw SourceFailure::damagedGzip($name);
                    }
                    $member = $isIntact === true ? new GzipMember() : $member;
                }
            }
            $chunk = self::read($stream, self::PACKED_CHUNK_BYTES, $name);
        }
        if ($member->isOpen()) {
            throw SourceFailure::damagedGzip($name);
        }
    }

    /**
     * @param resource $stream
     * @throws SourceFailure
     */
    private static function read(mixed $stream, int $bytes, string $name): string
    {
        $chunk = @fread($stream, $bytes);

        return $chunk === false ? throw SourceFailure::broken($name) : $chunk;
    }

    /** @throws WriterException when a signal came */
    private static function check(): void
    {
        if (self::$isStopping) {
            self::$isStopping = false;
            throw new WriterException(
                'Stopped by a signal while a file was read: what was stored stays, and the next run reads the file again.',
                ExitCode::Stopped,
            );
        }
    }

    private static function handle(?callable $handler): void
    {
        if (extension_loaded('pcntl')) {
            pcntl_async_signals(true);
            foreach ([SIGTERM, SIGINT] as $signal) {
                pcntl_signal($signal, $handler ?? SIG_DFL);
            }
        }
    }
}
