<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;

/** Memory and reports are bounded, whatever is in a file. */
final class SpoolBoundsTest extends SpoolTestCase
{
    /** @return iterable<string, array{string}> a file of which the last line is good */
    public static function bombs(): iterable
    {
        yield 'gzip of line ends' => [str_repeat("\n", 1_000_000)];
        yield 'gzip of one line' => [str_repeat('x', 1_000_000)];
        yield 'gzip of NUL bytes' => [str_repeat("\0", 1_000_000)];
    }

    #[Test]
    #[DataProvider('bombs')]
    public function memory_is_bounded_whatever_comes(string $megabyte): void
    {
        $this->put('a.ndjson.gz', self::packed(50, $megabyte, "\n" . self::lines('a', 1)));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_line_of_a_mebibyte_does_not_exhaust_memory_whatever_it_unfolds_to(): void
    {
        foreach (['[[],', '[[0],', '[{"":0},', '[{"a":{"b":[0]}},', '["ü",'] as $number => $piece) {
            $element = substr($piece, 1);
            $list = '[' . str_repeat($element, intdiv(1_048_000, strlen($element))) . '0]';
            $this->put("$number.ndjson", str_repeat("{\"id\":$list}\n", 9) . self::lines("v$number", 1));
        }
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(5, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_report_names_the_first_thousand_lines_of_a_reason_and_counts_the_others(): void
    {
        $this->put('a.ndjson', str_repeat("{}\n", 20_000) . str_repeat("[]\n", 1000));
        $this->installation->run(['cron']);
        [, $report] = $this->in('rejected');
        $entries = array_map(
            static fn(string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR),
            file("{$this->taken('rejected')}/$report"),
        );

        self::assertCount(2001, $entries);
        self::assertSame(['reason' => 'missing_field', 'further_lines' => 19_000], $entries[2000]);
        self::assertSame(
            20_000,
            $this->installation->value("SELECT line_count FROM rejections WHERE reason = 'missing_field'"),
        );
    }

    #[Test]
    public function lines_before_a_wrong_checksum_are_stored(): void
    {
        $packed = (string) gzencode(self::lines('a', 100));
        $packed[strlen($packed) - 6] = ~$packed[strlen($packed) - 6];
        $this->put('a.ndjson.gz', $packed);
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertSame(100, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertStringContainsString(
            'damaged',
            (string) file_get_contents("{$this->taken('rejected')}/{$this->in('rejected')[1]}"),
        );
    }

    #[Test]
    public function files_of_one_folder_that_take_too_long_do_not_keep_those_of_another_one_waiting(): void
    {
        $hole = fopen("$this->spool/a.ndjson", 'wb');
        ftruncate($hole, 1 << 40);
        $this->put('b.ndjson', self::lines('b', 1));
        touch("$this->spool/b.ndjson", time() + 60);
        $sources = $this->installation->environment['SOURCES'];
        $this->useSpool('other');
        $this->put('c.ndjson', self::lines('c', 1));
        $this->installation->environment['SOURCES'] = "$sources,spool:$this->spool";
        $this->installation->environment['SOURCE_TIMEOUT_SECONDS'] = '3'; // the others are begun in that time
        $result = $this->installation->run(['cron']);

        self::assertStringContainsString('took longer', $result->message('source_failed'));
        self::assertStringContainsString('1 sources of spool', $result->message('sources_postponed'));
        self::assertSame(
            ['c-0'],
            array_column($this->installation->rows('SELECT video_id FROM observations'), 'video_id'),
        );
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(2, $this->installation->value('SELECT count(*) FROM observations'));
    }

    private static function packed(int $times, string $part, string $end): string
    {
        $deflate = deflate_init(ZLIB_ENCODING_GZIP);
        $packed = '';
        for ($i = 0; $i < $times; $i++) {
            $packed .= deflate_add($deflate, $part, ZLIB_NO_FLUSH);
        }

        return $packed . deflate_add($deflate, $end, ZLIB_FINISH);
    }
}
