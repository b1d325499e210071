<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;

final class MistakesTest extends TestCase
{
    /** @param list<string> $words */
    #[Test]
    #[DataProvider('mistakes')]
    public function a_mistake_is_answered_with_what_was_expected(array $words, string $expected): void
    {
        $result = new Installation()->run($words);

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString($expected, $result->message());
    }

    /** @return iterable<array{list<string>, string}> */
    public static function mistakes(): iterable
    {
        yield [['ingset'], 'Command "ingset" is not defined. Did you mean this? ingest. See writer --help.'];
        yield [['rank', '--when', 'now'], 'The "--when" option does not exist'];
        yield [['rank', '--at'], 'The "--at" option requires a value'];
        yield [['rank', '--at', 'yesterday'], 'expected a time like'];
        yield [['status', '--json=yes'], 'The "--json" option does not accept a value'];
        yield [['cron', 'demo'], 'No arguments expected for "cron" command, got "demo"'];
        yield [['ingest'], 'missing: "sources"'];
        yield [['ingest', '--shift-to-now', '-'], 'reads a source twice'];
        yield [['backtest', '--from', 'spring', 'x'], 'expected a date'];
        yield [['explain', 'GB'], 'missing: "video"'];
        yield [['status', '-x'], 'The "-x" option does not exist'];
        yield [['remove', 'An id?'], 'Cannot read An id?: expected the id of a video'];
        yield [['remove', '--channel', ''], 'expected a name of 1 to 200 characters'];
    }

    /** @param array<string, string> $environment */
    #[Test]
    #[DataProvider('settings')]
    public function a_setting_that_cannot_be_read_is_named_with_an_example(
        array $environment,
        string $expected,
    ): void {
        $result = new Installation($environment)->run(['status']);

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString($expected, $result->message());
    }

    /** @return iterable<array{array<string, string>, string}> */
    public static function settings(): iterable
    {
        yield [
            ['KEEP_DAYS' => 'many'],
            'Cannot read KEEP_DAYS=many: expected a whole number from 1 to 3650, for example 28',
        ];
        yield [['GENERATION_RETENTION_SECONDS' => '-1'], 'from 0 to 604800, for example 2700'];
        yield [
            ['KEEP_GENERATIONS' => '10'],
            'KEEP_GENERATIONS is now GENERATION_RETENTION_SECONDS: rename it, and give seconds',
        ];
        yield [['DEMO_SEED' => '-1'], 'DEMO_SEED=-1'];
        yield [['DB_BUSY_TIMEOUT_SECONDS' => 'long'], 'expected a number from 0 to 600, for example 5'];
        yield [
            ['YOUTUBE_EVERY_SECONDS' => '600'],
            'YOUTUBE_EVERY_SECONDS is now YOUTUBE_INTERVAL_SECONDS: rename it.',
        ];
        yield [
            ['YOUTUBE_DEADLINE_SECONDS' => '40'],
            'YOUTUBE_DEADLINE_SECONDS is now YOUTUBE_TIMEOUT_SECONDS: rename it.',
        ];
        yield [
            ['DB_BUSY_TIMEOUT_MS' => '5000'],
            'DB_BUSY_TIMEOUT_MS is now DB_BUSY_TIMEOUT_SECONDS: rename it, and give seconds.',
        ];
        yield [['LEAVE_AFTER_HOURS' => '48'], 'LEAVE_AFTER_HOURS is now MAX_UNOBSERVED_HOURS: rename it.'];
    }
}
