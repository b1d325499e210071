<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Sources\ByteStream;
use TrendVault\Writer\Sources\LineFragment;
use TrendVault\Writer\Sources\LineReader;
use TrendVault\Writer\Sources\SourceFailure;

final class LineReaderTest extends TestCase
{
    #[Test]
    public function lines_are_the_same_wherever_the_chunks_are_cut(): void
    {
        $text = "{\"a\":1}\n\n{\"b\":\"ü\"}\r\n{\"c\":3}";
        $expected = [1 => '{"a":1}', 3 => "{\"b\":\"ü\"}\r", 4 => '{"c":3}'];

        for ($size = 1; $size <= strlen($text); $size++) {
            self::assertSame($expected, iterator_to_array(LineReader::lines(str_split($text, $size))));
        }
    }

    #[Test]
    public function a_byte_order_mark_at_the_start_is_no_part_of_the_first_line(): void
    {
        foreach ([1, 2, 3, 100] as $size) {
            self::assertSame(
                [1 => '{"a":1}'],
                iterator_to_array(LineReader::lines(str_split("\xEF\xBB\xBF{\"a\":1}\n", $size))),
            );
        }
    }

    #[Test]
    public function a_line_that_is_too_long_comes_in_pieces_and_the_next_one_whole(): void
    {
        $long = str_repeat('x', 3 * LineReader::LONGEST_BYTES);
        $pieces = [];
        foreach (LineReader::lines(str_split("1\n$long\n3\n", 100_000)) as $number => $line) {
            $pieces[$number][] = $line;
        }

        self::assertSame([1, 2, 3], array_keys($pieces));
        self::assertSame(
            ["$long\n"],
            [implode('', array_map(static fn(LineFragment $piece): string => $piece->bytes, $pieces[2]))],
        );
        self::assertSame(RejectionReason::TooLong, array_pop($pieces[2])->end);
        self::assertSame(
            [null],
            array_values(
                array_unique(
                    array_map(static fn(LineFragment $piece): ?RejectionReason => $piece->end, $pieces[2]),
                    SORT_REGULAR,
                ),
            ),
        );
        self::assertSame(['3'], $pieces[3]);
    }

    #[Test]
    public function a_last_line_that_is_whole_needs_no_line_end_and_one_that_is_not_is_cut_off(): void
    {
        $lines = iterator_to_array(LineReader::lines(["{}\n{\"a\": 1"]));

        self::assertSame('{}', $lines[1]);
        self::assertEquals(new LineFragment("{\"a\": 1\n", RejectionReason::CutOff), $lines[2]);
    }

    #[Test]
    public function gzip_is_known_by_its_bytes_and_may_have_several_members(): void
    {
        $packed = gzencode("{\"a\":1}\n") . gzencode("{\"b\":2}\n");

        self::assertSame(['{"a":1}', '{"b":2}'], self::read((string) $packed));
    }

    #[Test]
    public function gzip_that_stops_midway_gives_what_came_before_and_then_fails(): void
    {
        $lines = implode(
            "\n",
            array_map(static fn(): string => '"' . bin2hex(random_bytes(100)) . '"', range(1, 1000)),
        );
        $read = [];
        try {
            foreach (self::generate(substr((string) gzencode($lines), 0, 50_000)) as $line) {
                $read[] = $line;
            }
            self::fail('the end was not missed');
        } catch (SourceFailure $failure) {
            self::assertStringContainsString('damaged or truncated', $failure->getMessage());
        }
        self::assertGreaterThan(100, count($read));
        self::assertInstanceOf(LineFragment::class, array_pop($read));
        self::assertSame(array_slice(explode("\n", $lines), 0, count($read)), $read);
    }

    #[Test]
    public function an_empty_source_is_a_failure(): void
    {
        $this->expectExceptionMessage('is empty');
        self::read('');
    }

    /** @return list<string|LineFragment> */
    private static function read(string $bytes): array
    {
        return array_values(iterator_to_array(self::generate($bytes)));
    }

    /** @return iterable<int, string|LineFragment> */
    private static function generate(string $bytes): iterable
    {
        $stream = fopen('php://memory', 'w+b');
        fwrite($stream, $bytes);
        rewind($stream);

        return LineReader::lines(ByteStream::chunks($stream, 'test'));
    }
}
