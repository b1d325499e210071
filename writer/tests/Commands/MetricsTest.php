<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Status\MetricsReport;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class MetricsTest extends TestCase
{
    private const string SAMPLE = '/^(trendvault_writer_[a-z_]+)(\{[a-z]+="[^"\n]*"\})? -?[0-9.e+-]+$/D';

    #[Test]
    public function each_metric_has_help_and_type_once_and_then_its_samples(): void
    {
        $installation = self::withSource('spool');
        $installation->run(['cron']);
        $lines = explode("\n", rtrim($installation->run(['status', '--prometheus'])->output));
        $described = [];
        foreach ($lines as $line) {
            if (preg_match('/^# (HELP|TYPE) (\S+) \S/', $line, $match) === 1) {
                $described[$match[2]][] = $match[1];
            } else {
                self::assertSame(1, preg_match(self::SAMPLE, $line, $match), $line);
                self::assertSame($match[1], array_key_last($described));
            }
        }
        self::assertSame([['HELP', 'TYPE']], array_values(array_unique($described, SORT_REGULAR)));
    }

    #[Test]
    public function cron_leaves_its_metrics_whatever_its_result(): void
    {
        $installation = self::withSource('spool');
        $file = $installation->environment['METRICS_FILE'];
        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
        $good = (string) file_get_contents($file);
        $installation->environment['SOURCES'] = '/nowhere';
        self::assertSame(ExitCode::SourceFailed, $installation->run(['cron'])->exitCode);
        $bad = (string) file_get_contents($file);

        self::assertStringContainsString('run_exit_code{command="cron"} 0', $good);
        self::assertStringContainsString('lines_last_day{outcome="accepted"} 2', $good);
        self::assertStringContainsString('rejected_lines_last_day{reason="not_json"} 1', $good);
        self::assertMatchesRegularExpression(
            '/newest_observation_timestamp_seconds\{region="GB"\} \d{10}\n/',
            $good,
        );
        self::assertStringContainsString('run_exit_code{command="cron"} 4', $bad);
        self::assertFileDoesNotExist("$file.new");
    }

    #[Test]
    public function they_say_which_sources_failed_in_how_many_runs_of_the_last_day(): void
    {
        $installation = self::withSource('spool');
        $installation->environment['SOURCES'] .= ',http:https://stats.example:99999/?key=a-secret,/nowhere';
        $installation->run(['cron']);
        $installation->run(['cron']);
        $installation->environment['SOURCES'] = '/nowhere';
        $installation->run(['cron']);
        $metrics = (string) file_get_contents($installation->environment['METRICS_FILE']);
        $installation->execute('UPDATE runs SET started_at = started_at - 90000');
        $later = $installation->run(['status', '--prometheus'])->output;

        self::assertStringContainsString('source_failures_last_day{source="http"} 2', $metrics);
        self::assertStringContainsString('source_failures_last_day{source="ndjson"} 3', $metrics);
        self::assertStringNotContainsString('a-secret', $metrics);
        self::assertStringContainsString('source_failures_last_day{source="none"} 0', $later);
        self::assertStringContainsString('youtube_quota_units_today{quota="charts"} 0', $metrics);
    }

    #[Test]
    public function they_say_when_the_file_was_checked_and_whether_it_is_damaged(): void
    {
        $installation = self::withSource('spool');
        $installation->run(['cron']);
        $file = $installation->environment['METRICS_FILE'];
        $whole = (string) file_get_contents($file);
        $installation->execute(
            "INSERT INTO checks (checked_at, seconds, result) VALUES (1000, 1, 'damaged'), (2000, 1, 'unfinished')",
        );
        $damaged = $installation->run(['status', '--prometheus'])->output;

        self::assertStringContainsString("trendvault_writer_database_damaged 0\n", $whole);
        self::assertMatchesRegularExpression('/check_timestamp_seconds \d{10}\n/', $whole);
        self::assertStringContainsString("trendvault_writer_database_damaged 1\n", $damaged);
    }

    #[Test]
    public function regions_of_other_writers_are_left_out(): void
    {
        $installation = self::withSource('spool');
        $installation->run(['cron']);
        $installation->environment['REGIONS'] = 'DE,FR';
        $output = $installation->run(['status', '--prometheus'])->output;

        self::assertStringContainsString('videos{region="DE"}', $output);
        self::assertStringNotContainsString('region="GB"', $output);
    }

    #[Test]
    public function the_file_may_be_read_by_the_collectors_user_whatever_the_umask(): void
    {
        $installation = self::withSource('spool');
        $before = umask(0077);
        try {
            $installation->run(['cron']);
        } finally {
            umask($before);
        }

        self::assertSame(0644, fileperms($installation->environment['METRICS_FILE']) & 0777);
    }

    #[Test]
    public function metrics_that_cannot_be_written_are_logged_and_end_no_run(): void
    {
        $installation = self::withSource('spool');
        $installation->environment['METRICS_FILE'] = "{$installation->folder->path}/nowhere/writer.prom";
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertStringContainsString('check its folder', $result->message('metrics_not_written'));
    }

    #[Test]
    public function metrics_replace_no_file_of_another_kind(): void
    {
        $installation = self::withSource('spool');
        $installation->environment['METRICS_FILE'] = $installation->database;
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertStringContainsString('ends with .prom', $result->message('metrics_not_written'));
        self::assertStringStartsWith('SQLite format 3', (string) file_get_contents($installation->database));
    }

    #[Test]
    public function a_value_of_a_label_may_be_any_text(): void
    {
        $text = MetricsReport::gauge('x', 'Y.', [
            [1, ['store' => "a\"b\\c\nd"]],
            [null, ['store' => 'none']],
        ]);

        self::assertStringEndsWith("trendvault_writer_x{store=\"a\\\"b\\\\c\\nd\"} 1\n", $text);
    }

    #[Test]
    public function a_pause_is_there_until_an_hour_after_its_end_of_any_source(): void
    {
        $installation = Installation::migrated();
        foreach (['youtube' => 3000, 'peertube:late.example' => 4200] as $source => $secondsAgo) {
            $at = time() - $secondsAgo;
            $installation->execute(
                "INSERT INTO source_schedules VALUES ('$source', $at - 60, 1, $at, 'It fails.')",
            );
        }
        $metrics = $installation->run(['status', '--prometheus'])->output;

        self::assertStringContainsString('source_retry_timestamp_seconds{source="youtube"} ', $metrics);
        self::assertStringNotContainsString('late.example', $metrics);
    }

    private static function withSource(string $folder): Installation
    {
        $installation = Installation::migrated();
        $path = "{$installation->folder->path}/$folder";
        mkdir($path);
        $lines = [
            ['id' => 'video-1', 'observed_at' => NdjsonLine::ago(60)],
            ['id' => 'video-2', 'observed_at' => NdjsonLine::ago(60)],
        ];
        file_put_contents("$path/views.ndjson", NdjsonLine::many($lines) . "no JSON\n");
        $installation->environment = [
            'SOURCES' => "spool:$path",
            'METRICS_FILE' => "{$installation->folder->path}/writer.prom",
        ];

        return $installation;
    }
}
