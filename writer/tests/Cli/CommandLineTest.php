<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\Process;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

final class CommandLineTest extends TestCase
{
    #[Test]
    public function memory_that_is_used_up_is_logged_and_has_an_exit_code(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write(
            'a.ndjson',
            str_repeat('"' . str_repeat('x', 1_000_000) . "\"\n", 9),
        );
        $process = new Process(
            [PHP_BINARY, '-d', 'memory_limit=8M', __DIR__ . '/../../src/main.php', 'ingest', $file],
            ['DB_PATH' => $installation->database],
        );
        $result = $process->wait();

        self::assertSame(ExitCode::Internal, $result->exitCode);
        self::assertStringContainsString('memory size of', $result->message('bug'));
    }

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

    #[Test]
    public function every_command_explains_itself(): void
    {
        $installation = new Installation();
        preg_match_all('/^  ([a-z-]+)  +[A-Z]/m', $installation->run(['--help'])->output, $commands);

        self::assertSame(
            [
                'allow',
                'backtest',
                'backup',
                'check',
                'completion',
                'cron',
                'explain',
                'help',
                'ingest',
                'list',
                'manual',
                'migrate',
                'prune',
                'publication-keys',
                'publish',
                'rank',
                'remove',
                'repair',
                'restore',
                'schema',
                'simulate',
                'status',
            ],
            $commands[1],
        );
        foreach ($commands[1] as $command) {
            self::assertStringContainsString(
                "Usage:\n  $command",
                $installation->run([$command, '--help'])->output,
            );
        }
    }

    #[Test]
    public function the_manual_says_of_each_command_what_its_help_says(): void
    {
        $installation = new Installation();
        $manual = $installation->run(['manual'])->output;
        preg_match_all('/^## (.*)$/m', $manual, $headings);
        $commands = array_values(
            array_diff(array_keys(self::commandsOf($installation)), ['completion', 'help', 'list']),
        );

        self::assertSame($commands, $headings[1]);
        foreach (self::commandsOf($installation) as $name => $description) {
            if (in_array($name, $commands, true)) {
                self::assertStringContainsString("## $name\n\n$description.\n\n    writer $name", $manual);
            }
        }
        preg_match_all('/--[a-z][a-z-]+/', $installation->run(['status', '--help'])->output, $options);
        foreach ($options[0] as $option) {
            self::assertStringContainsString($option, $manual);
        }
    }

    /** @return array<string, string> what each command does, by name */
    private static function commandsOf(Installation $installation): array
    {
        $list = json_decode($installation->run(['list', '--format=json'])->output, true);
        $described = array_column($list['commands'], 'description', 'name');

        return array_filter(
            $described,
            static fn(string $name): bool => $name !== '_complete',
            ARRAY_FILTER_USE_KEY,
        );
    }

    #[Test]
    public function a_shell_completes_commands_and_options(): void
    {
        $installation = new Installation();
        $complete = ['_complete', '--no-interaction', '-sbash', '-a1', '-iwriter'];

        self::assertSame("status\n", $installation->run([...$complete, '-c1', '-ist'])->output);
        self::assertStringContainsString(
            "--max-age\n",
            $installation->run([...$complete, '-c2', '-istatus', '-i--m'])->output,
        );
        self::assertStringContainsString(
            'complete -F _sf_writer writer',
            $installation->run(['completion', 'bash'])->output,
        );
    }

    #[Test]
    public function quiet_writes_errors_and_nothing_else(): void
    {
        $installation = new Installation(['SOURCES' => 'demo-that-is-missing']);
        $result = $installation->run(['cron', '-q']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertSame(['error'], array_unique(array_column($result->events('source_failed'), 'level')));
        self::assertCount(1, explode("\n", trim($result->errors)));
    }

    #[Test]
    public function no_colours_are_written_where_there_is_no_terminal(): void
    {
        $installation = new Installation(['COLORTERM' => 'truecolor', 'TERM' => 'xterm-256color']);

        foreach ([['list'], ['status', '--help'], ['ststus']] as $words) {
            $result = $installation->run($words);
            self::assertStringNotContainsString("\e[", $result->output . $result->errors);
        }
    }

    #[Test]
    public function without_its_libraries_it_says_how_to_install_them(): void
    {
        $folder = new TemporaryFolder();
        mkdir("$folder->path/src");
        copy(dirname(__DIR__, 2) . '/src/main.php', "$folder->path/src/main.php");
        $result = new Process([PHP_BINARY, "$folder->path/src/main.php"], [])->wait();

        self::assertSame(ExitCode::Internal, $result->exitCode);
        self::assertSame(
            "writer: its libraries are missing. Run bin/setup, or composer install --no-dev in writer/.\n",
            $result->errors,
        );
    }

    #[Test]
    public function it_runs_from_any_folder_under_the_short_path_of_cron_and_through_a_link(): void
    {
        $installation = new Installation();
        symlink(dirname(__DIR__, 2) . '/bin/writer', "{$installation->folder->path}/writer");
        $result = new Process(
            ['/bin/sh', '-c', 'cd / && exec "$0" migrate', "{$installation->folder->path}/writer"],
            [
                'PATH' => '/usr/bin:/bin:' . dirname(PHP_BINARY),
                'DB_PATH' => $installation->database,
            ],
        )->wait();

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertFileExists($installation->database);
    }

    #[Test]
    public function every_line_of_the_log_is_an_event_with_time_level_and_message(): void
    {
        $installation = new Installation(['SOURCES' => 'demo-that-is-missing']);
        foreach (array_filter(explode("\n", $installation->run(['cron'])->errors)) as $line) {
            $event = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            self::assertMatchesRegularExpression(
                '/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/',
                $event['time'],
            );
            self::assertContains($event['level'], ['info', 'warning', 'error']);
            self::assertSame(['time', 'level', 'event', 'message'], array_slice(array_keys($event), 0, 4));
            self::assertMatchesRegularExpression('/^[a-z_]+$/', $event['event']);
            self::assertStringEndsWith('.', $event['message']);
        }
    }
}
