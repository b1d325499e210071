<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;
use TrendVault\Writer\Observations\RejectionReason;

/** Splits chunks of bytes into lines; holds at most one chunk and one line of LONGEST_BYTES. */
final readonly class LineReader
{
    public const int LONGEST_BYTES = 1024 * 1024;
    private const string BYTE_ORDER_MARK = "\xEF\xBB\xBF";

    /**
     * Empty lines are counted, not given.
     *
     * @param iterable<string> $chunks
     * @return Generator<int, string|LineFragment>
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
                foreach ($lines as $line) {
                    if ($overlong || strlen($line) > self::LONGEST_BYTES) {
                        yield $number => new LineFragment("$line\n", RejectionReason::TooLong);
                        $overlong = false;
                    } elseif ($line !== '' && $line !== "\r") {
                        yield $number => $line;
                    }
                    $number++;
                }
                if ($overlong || strlen($rest) > self::LONGEST_BYTES) {
                    yield $number => new LineFragment($rest, null);
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
     * @return Generator<int, string|LineFragment>
     */
    private static function unfinished(int $number, string $rest, bool $overlong): Generator
    {
        if ($overlong) {
            yield $number => new LineFragment("$rest\n", RejectionReason::TooLong);
        } elseif ($rest !== '') {
            yield $number => json_validate($rest)
                ? $rest
                : new LineFragment("$rest\n", RejectionReason::CutOff);
        }
    }
}

/** A piece of a line that is too long to hold in memory, or of one that was cut off. */
final readonly class LineFragment
{
    /** @param ?RejectionReason $end why the line is rejected, on its last piece */
    public function __construct(public string $bytes, public ?RejectionReason $end) {}
}
