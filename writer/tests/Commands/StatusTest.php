<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class StatusTest extends TestCase
{
    #[Test]
    public function the_json_has_everything_that_a_monitor_needs(): void
    {
        $before = time();
        $installation = self::withOneGeneration();
        $status = json_decode(
            $installation->run(['status', '--json'])->output,
            true,
            flags: JSON_THROW_ON_ERROR,
        );

        self::assertSame('rank', $status['last_run']['command']);
        self::assertSame(0, $status['last_run']['exit_code']);
        self::assertSame(1, $status['generation']['id']);
        self::assertContains($status['generation']['age_seconds'], range(0, time() - $before));
        self::assertSame(['not_json' => 2, 'missing_field' => 1], $status['rejected_last_day']);
        self::assertGreaterThan(4096, $status['database']['bytes']);
        self::assertArrayHasKey('wal_bytes', $status['database']);
        $regions = array_column($status['regions'], null, 'region');
        self::assertSame(1, $regions['GB']['videos']);
        self::assertContains($regions['GB']['age_seconds'], range(60, 60 + time() - $before));
        self::assertNull($regions['DE']['newest_observed_at']);
    }

    #[Test]
    public function a_database_that_was_never_migrated_is_a_schema_mismatch_with_advice(): void
    {
        $installation = new Installation();
        $installation->execute('PRAGMA user_version = 1');
        foreach ([['status'], ['explain', 'GB', 'video-1']] as $words) {
            $result = $installation->run($words);
            self::assertSame(ExitCode::SchemaMismatch, $result->exitCode);
            self::assertStringContainsString('Run `writer migrate`', $result->errors);
        }
    }

    #[Test]
    public function the_text_has_the_same_facts_in_lines(): void
    {
        $text = self::withOneGeneration()->run(['status'])->output;

        foreach (
            [
                'Last run    rank',
                'ok (exit code 0)',
                'Generation  1',
                'inverse-square-1',
                '2 not_json, 1 missing_field',
                'WAL',
                '/^GB +1  \d+ (s|min) ago$/m',
                '/^DE +0  never$/m',
            ]
            as $expected
        ) {
            $expected[0] === '/'
                ? self::assertMatchesRegularExpression($expected, $text)
                : self::assertStringContainsString($expected, $text);
        }
    }

    #[Test]
    public function videos_that_only_a_catalogue_names_are_counted_too_each_once(): void
    {
        $installation = self::withOneGeneration();
        $installation->execute(
            "INSERT INTO catalogue (region, video_id, announced_at) SELECT region, video_id, 0 FROM velocity UNION ALL SELECT 'DE', id, 0 FROM videos",
        );
        $text = $installation->run(['status'])->output;

        self::assertMatchesRegularExpression('/^GB +1  /m', $text);
        self::assertMatchesRegularExpression('/^DE +1  never$/m', $text);
    }

    #[Test]
    public function a_generation_that_is_too_old_or_missing_has_an_exit_code_of_its_own(): void
    {
        $installation = self::withOneGeneration();

        self::assertSame(ExitCode::Ok, $installation->run(['status', '--max-age', '300'])->exitCode);
        $installation->execute('UPDATE generations SET published_at = published_at - 400');
        self::assertSame(ExitCode::Stale, $installation->run(['status', '--max-age', '300'])->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['status'])->exitCode);
        self::assertSame(
            ExitCode::Stale,
            Installation::migrated()->run(['status', '--max-age=300'])->exitCode,
        );
        self::assertSame(ExitCode::Usage, $installation->run(['status', '--max-age', 'soon'])->exitCode);
    }

    #[Test]
    public function a_run_that_failed_says_why(): void
    {
        $installation = self::withOneGeneration();
        $installation->execute('UPDATE generations SET published_at = published_at + 9999');
        $installation->run(['rank']);

        self::assertStringContainsString(
            'clock backwards (exit code 9)',
            $installation->run(['status'])->output,
        );
        self::assertStringContainsString('the clock says', $installation->run(['status'])->output);
    }

    private static function withOneGeneration(): Installation
    {
        $installation = Installation::migrated();
        $installation->run(
            ['ingest', '-'],
            NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\nx\ny\n{}\n",
        );
        $installation->run(['rank']);

        return $installation;
    }
}
