<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;

final class CronWithYouTubeTest extends TestCase
{
    private const string KEY = 'AIza-a-key-that-nobody-may-see';

    #[Test]
    public function charts_are_stored_and_ranked_and_not_requested_again_within_the_interval(): void
    {
        $server = new StubServer();
        $server->answer([
            'GB 1' => [StubServer::page(['aaa', 'bbb'])],
            'DE 1' => [StubServer::page(['aaa'])],
        ]);
        $installation = self::installation(['YOUTUBE_API_URL' => $server->url]);

        $first = $installation->run(['cron']);
        $requests = count($server->requests());
        $second = $installation->run(['cron']);

        self::assertSame([ExitCode::Ok, ExitCode::Ok], [$first->exitCode, $second->exitCode]);
        self::assertSame(14, $requests);
        self::assertSame(14, $installation->value('SELECT sum(units) FROM youtube_quota'));
        self::assertCount($requests, $server->requests());
        self::assertSame(3, $installation->value('SELECT count(*) FROM observations'));
        self::assertSame(
            2,
            $installation->value(
                "SELECT count(*) FROM trending WHERE generation = 2 AND region = 'GB' AND window = 'now' AND category = 'Music'",
            ),
        );
    }

    #[Test]
    public function what_its_chart_holds_and_what_its_terms_forbid_is_said_at_its_first_use_only(): void
    {
        $server = new StubServer();
        $server->answer(['*' => [StubServer::page(['aaa'])]]);
        $installation = self::installation([
            'YOUTUBE_API_URL' => $server->url,
            'SOURCE_INTERVAL_SECONDS' => '0',
        ]);

        $said = $installation->run(['cron'])->message('youtube_terms');
        self::assertStringContainsString('Music, Movies and Gaming only', $said);
        self::assertStringContainsString('derived from its data', $said);
        self::assertSame([], $installation->run(['cron'])->events('youtube_terms'));
    }

    #[Test]
    public function between_two_readings_of_the_charts_the_views_of_their_videos_are_asked_for_once_for_all_regions(): void
    {
        $server = new StubServer();
        $server->answer([
            'GB 1' => [StubServer::page(['aaa', 'bbb'])],
            'DE 1' => [StubServer::page(['aaa'])],
        ]);
        $installation = self::installation([
            'YOUTUBE_API_URL' => $server->url,
            'SOURCE_INTERVAL_SECONDS' => '0',
        ]);
        $installation->run(['cron']);
        $charts = count($server->requests());
        // Two counts of one second are a conflict.
        for ($at = $installation->value('SELECT max(observed_at) FROM observations'); time() <= $at; ) {
            usleep(20_000);
        }
        $counted = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $counted->exitCode, $counted->errors);
        $requests = array_slice($server->requests(), $charts);
        self::assertSame(
            count($requests),
            $installation->value("SELECT sum(units) FROM youtube_quota WHERE quota = 'views'"),
        );
        self::assertSame(
            [['stats', 'aaa,bbb']],
            array_map(
                static fn(array $request): array => [$request['key'], $request['query']['id']],
                $requests,
            ),
        );
        self::assertSame(
            ['aaa DE 223456', 'aaa GB 223456', 'bbb GB 223456'],
            array_column(
                $installation->rows(
                    "SELECT video_id || ' ' || region || ' ' || max(views) AS line FROM observations GROUP BY video_id, region ORDER BY line",
                ),
                'line',
            ),
        );
    }

    #[Test]
    public function where_counts_are_refused_the_charts_are_read_as_often_as_before(): void
    {
        $server = new StubServer();
        $server->answer([
            'GB 1' => [StubServer::page(['aaa'])],
            'stats' => [StubServer::error(403, 'accessNotConfigured')],
        ]);
        $installation = self::installation([
            'YOUTUBE_API_URL' => $server->url,
            'SOURCE_INTERVAL_SECONDS' => '0',
        ]);
        $exitCodes = array_map(
            static fn(int $run): ExitCode => $installation->run(['cron'])->exitCode,
            range(1, 3),
        );
        $keys = array_column($server->requests(), 'key');

        self::assertSame([ExitCode::Ok, ExitCode::SourceFailed, ExitCode::Ok], $exitCodes);
        self::assertSame(1, count(array_keys($keys, 'stats', true)));
        self::assertSame(2, count(array_keys($keys, 'GB 1', true)));
    }

    #[Test]
    public function an_outage_is_not_asked_about_every_minute(): void
    {
        $server = new StubServer();
        $server->answer(['*' => [StubServer::error(403, 'quotaExceeded')]]);
        $installation = self::installation(['YOUTUBE_API_URL' => $server->url]);

        self::assertSame(ExitCode::SourceFailed, $installation->run(['cron'])->exitCode);
        $installation->lengthenPauses();
        $second = $installation->run(['cron']);
        self::assertSame(ExitCode::Ok, $second->exitCode);
        self::assertStringContainsString('is not asked before', $second->message('source_paused'));
        self::assertCount(1, $server->requests());
        $status = json_decode($installation->run(['status', '--json'])->output, true)['paused_sources'][0];
        self::assertStringContainsString('quota for today is used up', $status['reason']);
        self::assertStringContainsString(
            "Paused      youtube is not asked before {$status['until']}: {$status['reason']}",
            $installation->run(['status'])->output,
        );
    }

    /** It unpacks to more than the memory of the run. */
    #[Test]
    #[DataProvider('statuses')]
    public function an_answer_that_is_a_gzip_bomb_does_not_end_the_run(int $status): void
    {
        $server = new StubServer();
        $server->answer(['*' => [['status' => $status, 'body' => '{', 'gzipOf' => 200_000_000]]]);
        $installation = self::installation([
            'YOUTUBE_API_URL' => $server->url,
            'SOURCE_TIMEOUT_SECONDS' => '60',
        ]);

        self::assertSame(ExitCode::SourceFailed, $installation->run(['cron'])->exitCode);
    }

    /** @return array<string, array{int}> */
    public static function statuses(): array
    {
        return ['200' => [200], '403' => [403]];
    }

    #[Test]
    public function an_answer_that_is_packed_is_read(): void
    {
        $server = new StubServer();
        $server->answer(['GB 1' => [[...StubServer::page(['aaa']), 'gzipOf' => 10_000]]]);
        $installation = self::installation(['YOUTUBE_API_URL' => $server->url]);

        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
        self::assertSame(1, $installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function the_key_is_in_no_log_and_not_in_the_database(): void
    {
        $server = new StubServer();
        $server->answer(['*' => [StubServer::error(403, 'accessNotConfigured')]]);
        $installation = self::installation(['YOUTUBE_API_URL' => $server->url]);
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringNotContainsString(self::KEY, $result->errors . $result->output);
        foreach (glob("{$installation->folder->path}/*") as $file) {
            self::assertStringNotContainsString(self::KEY, (string) file_get_contents($file));
        }
    }

    #[Test]
    public function its_terms_are_kept_to_and_a_missing_key_is_named(): void
    {
        self::assertStringContainsString(
            'within 30 days',
            self::installation(['OBSERVATION_RETENTION_HOURS' => '697'])
                ->run(['cron'])
                ->message('source_failed'),
        );
        self::assertStringContainsString(
            'YOUTUBE_API_KEY is not set',
            self::installation(['YOUTUBE_API_KEY' => ''])
                ->run(['cron'])
                ->message('source_failed'),
        );
    }

    /** @param array<string, string> $environment */
    private static function installation(array $environment): Installation
    {
        return Installation::migrated([
            'SOURCES' => 'youtube',
            'YOUTUBE_API_KEY' => self::KEY,
            ...$environment,
        ]);
    }
}
