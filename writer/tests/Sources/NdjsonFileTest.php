<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

final class NdjsonFileTest extends TestCase
{
    #[Test]
    public function lines_are_the_same_wherever_the_chunks_are_cut(): void
    {
        $text = "{\"a\":1}\n\n{\"b\":\"ü\"}\r\n{\"c\":3}";
        $expected = [1 => '{"a":1}', 3 => "{\"b\":\"ü\"}\r", 4 => '{"c":3}'];

        for ($size = 1; $size <= strlen($text); $size++) {
            self::assertSame($expected, iterator_to_array(NdjsonFile::linesOf(str_split($text, $size))));
        }
    }

    #[Test]
    public function a_byte_order_mark_at_the_start_is_no_part_of_the_first_line(): void
    {
        foreach ([1, 2, 3, 100] as $size) {
            self::assertSame(
                [1 => '{"a":1}'],
                iterator_to_array(NdjsonFile::linesOf(str_split("\xEF\xBB\xBF{\"a\":1}\n", $size))),
            );
        }
    }

    #[Test]
    public function a_line_that_is_too_long_comes_in_pieces_and_the_next_one_whole(): void
    {
        $long = str_repeat('x', 3 * NdjsonFile::LONGEST_BYTES);
        $pieces = [];
        foreach (NdjsonFile::linesOf(str_split("1\n$long\n3\n", 100_000)) as $number => $line) {
            $pieces[$number][] = $line;
        }

        self::assertSame([1, 2, 3], array_keys($pieces));
        self::assertSame(
            ["$long\n"],
            [implode('', array_map(static fn(array $piece): string => $piece[0], $pieces[2]))],
        );
        self::assertSame(RejectionReason::TooLong, array_pop($pieces[2])[1]);
        self::assertSame(
            [null],
            array_values(
                array_unique(
                    array_map(static fn(array $piece): ?RejectionReason => $piece[1], $pieces[2]),
                    SORT_REGULAR,
                ),
            ),
        );
        self::assertSame(['3'], $pieces[3]);
    }

    #[Test]
    public function a_line_of_one_mebibyte_is_taken_and_a_longer_one_is_not(): void
    {
        $longest = str_repeat('x', NdjsonFile::LONGEST_BYTES);

        self::assertSame(
            [1 => $longest, 2 => ["{$longest}x\n", RejectionReason::TooLong]],
            iterator_to_array(NdjsonFile::linesOf(["$longest\n{$longest}x\n"])),
        );
    }

    #[Test]
    public function a_last_line_that_is_whole_needs_no_line_end_and_one_that_is_not_is_cut_off(): void
    {
        $lines = iterator_to_array(NdjsonFile::linesOf(["{}\n{\"a\": 1"]));

        self::assertSame('{}', $lines[1]);
        self::assertEquals(["{\"a\": 1\n", RejectionReason::CutOff], $lines[2]);
    }

    #[Test]
    public function gzip_is_known_by_its_bytes_and_may_have_several_members(): void
    {
        $packed = gzencode("{\"a\":1}\n") . gzencode("{\"b\":2}\n");

        self::assertSame(['{"a":1}', '{"b":2}'], self::read((string) $packed));
    }

    #[Test]
    public function gzip_has_the_same_lines_wherever_its_chunks_are_cut_and_whatever_its_header_has(): void
    {
        $text = implode("\n", array_map(static fn(int $i): string => "{\"a\":$i}", range(1, 3000)));
        $packed = (string) gzencode($text);
        $names = "\x1f\x8b\x08\x1e" . substr($packed, 4, 6) . "\x05\x00extra" . "name\0" . "comment\0" . '16';
        foreach (range(3900, 4200, 7) as $padding) {
            $stored = (string) gzencode(str_repeat('x', $padding) . "\n", 0);

            self::assertCount(
                6001,
                self::read("$stored$packed" . gzencode("\n") . $names . substr($packed, 10)),
            );
        }
    }

    #[Test]
    public function gzip_is_known_when_a_pipe_gives_its_first_byte_alone(): void
    {
        $folder = new TemporaryFolder();
        $file = escapeshellarg($folder->write('packed', (string) gzencode("{}\n")));
        $pipe = popen("head -c 1 $file; sleep 0.1; tail -c +2 $file", 'r');

        self::assertSame([1 => '{}'], iterator_to_array(new NdjsonFile('test', pipe: $pipe)->lines()));
        pclose($pipe);
    }

    #[Test]
    public function lines_before_damaged_data_are_given(): void
    {
        $lines = self::hexadecimal(1000, bytes: 40);
        $deflate = deflate_init(ZLIB_ENCODING_GZIP);
        $packed = deflate_add($deflate, implode("\n", $lines) . "\n", ZLIB_FULL_FLUSH);
        $read = [];
        try {
            foreach (self::generate($packed . str_repeat("\xff", 1000)) as $line) {
                $read[] = $line;
            }
            self::fail('the damage was not seen');
        } catch (SourceFailure) {
        }

        self::assertGreaterThan(995, count($read)); // all but those of the last packed bytes
    }

    #[Test]
    public function gzip_that_stops_midway_gives_what_came_before_and_then_fails(): void
    {
        $lines = implode("\n", self::hexadecimal(1000, bytes: 100));
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
        self::assertIsArray(array_pop($read));
        self::assertSame(array_slice(explode("\n", $lines), 0, count($read)), $read);
    }

    #[Test]
    public function an_empty_source_is_a_failure(): void
    {
        $this->expectExceptionMessage('is empty');
        self::read('');
    }

    #[Test]
    public function what_gives_an_error_before_its_end_has_no_digest(): void
    {
        self::assertNull(new NdjsonFile('/sys/class/net/lo/speed')->digest());
    }

    /** @return list<string> lines that gzip can make little of */
    private static function hexadecimal(int $count, int $bytes): array
    {
        $random = Draws::randomizer();

        return array_map(
            static fn(): string => '"' . bin2hex($random->getBytes($bytes)) . '"',
            range(1, $count),
        );
    }

    /** @return list<string|array{string, ?RejectionReason}> */
    private static function read(string $bytes): array
    {
        return array_values(iterator_to_array(self::generate($bytes)));
    }

    /** @return iterable<int, string|array{string, ?RejectionReason}> */
    private static function generate(string $bytes): iterable
    {
        $stream = fopen('php://memory', 'w+b');
        fwrite($stream, $bytes);
        rewind($stream);

        return new NdjsonFile('test', pipe: $stream)->lines();
    }
}
