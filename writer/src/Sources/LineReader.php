<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\WriterException;

/**
 * Reads the lines of a stream, plain or gzip (RFC 1952), whatever its file is called. Holds at most one chunk and one
 * line of LONGEST_BYTES.
 *
 * SIGTERM and SIGINT while a claimed file is read end the run at the next chunk, so that the file can be given back. At all
 * other times they end the process at once, which loses nothing. Without PHP's pcntl they always do.
 */
final class LineReader
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

    private static bool $isStopping = false;

    /**
     * @param resource $stream
     * @param ?int $timeoutSeconds for all lines together and what is done with them; null for no limit
     * @return Generator<int, string|array{string, ?RejectionReason}> see lines()
     * @throws SourceFailure when there is nothing, it cannot be read to its end in time, or gzip data is damaged or truncated
     * @throws WriterException when a signal stops the run
     */
    public static function of(mixed $stream, string $name, ?int $timeoutSeconds = null): Generator
    {
        return self::lines(self::chunks($stream, $name, $timeoutSeconds));
    }

    /**
     * Empty lines are counted, not given. In place of a line that is too long to hold in memory, or was cut off, come its
     * bytes in pieces, the last one with the reason why it is rejected.
     *
     * @param iterable<string> $chunks
     * @return Generator<int, string|array{string, ?RejectionReason}>
     * @throws SourceFailure as the chunks do, after what came before
     */
    public static function lines(iterable $chunks): Generator
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

    /** @throws WriterException when a signal came */
    public static function check(): void
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

    /**
     * @param resource $stream
     * @return Generator<string> of bounded size, whatever the stream has
     */
    private static function chunks(mixed $stream, string $name, ?int $timeoutSeconds = null): Generator
    {
        $started = hrtime(true);
        foreach (self::bytes($stream, $name) as $chunk) {
            self::check();
            if ($timeoutSeconds !== null && hrtime(true) - $started > $timeoutSeconds * 1_000_000_000) {
                throw SourceFailure::tooSlow($name, $timeoutSeconds);
            }
            yield $chunk;
        }
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
}
