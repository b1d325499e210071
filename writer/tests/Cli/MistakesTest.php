<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
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
            ['OBSERVATION_RETENTION_HOURS' => 'many'],
            'Cannot read OBSERVATION_RETENTION_HOURS=many: expected a whole number from 24 to 87600, for example 672',
        ];
        yield [['GENERATION_RETENTION_HOURS' => '-1'], 'expected a number from 0 to 168, for example 0.75'];
        yield [['EXPLORE_SHARE' => '2'], 'EXPLORE_SHARE=2'];
    }
}
