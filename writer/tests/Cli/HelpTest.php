<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Tests\Support\Installation;

final class HelpTest extends TestCase
{
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
                'editorial',
                'erase',
                'explain',
                'help',
                'hold',
                'ingest',
                'list',
                'manual',
                'migrate',
                'pin',
                'prune',
                'publication-keys',
                'publish',
                'rank',
                'remove',
                'repair',
                'restore',
                'rule',
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
}
