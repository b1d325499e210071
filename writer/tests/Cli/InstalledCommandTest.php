<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Process;
use TrendVault\Writer\Tests\Support\ProcessResult;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

/** What docs/operations.md links into the PATH. */
final class InstalledCommandTest extends TestCase
{
    private const string PROGRAM = __DIR__ . '/../../deploy/trendvault';

    private TemporaryFolder $folder;

    protected function setUp(): void
    {
        $this->folder = new TemporaryFolder();
    }

    #[Test]
    public function it_knows_the_settings_of_the_service_from_any_folder_and_through_a_link(): void
    {
        symlink(self::PROGRAM, "{$this->folder->path}/trendvault");
        $this->folder->write(
            'writer.env',
            "# a comment\nDB_PATH={$this->folder->path}/a.db\n  SOURCES = none\nOBSERVATION_RETENTION_HOURS=\"168\" \nEXPLORE_SHARE='\$(exit 3)'",
        );
        $result = $this->call(["{$this->folder->path}/trendvault", 'status']);

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString('EXPLORE_SHARE', $result->errors);
        self::assertStringContainsString('$(exit 3)', $result->errors);
    }

    #[Test]
    public function the_result_is_the_writers(): void
    {
        $this->folder->write('writer.env', "DB_PATH={$this->folder->path}/a.db");

        self::assertSame(ExitCode::Ok, $this->call([self::PROGRAM, 'migrate'])->exitCode);
        self::assertFileExists("{$this->folder->path}/a.db");
        self::assertSame(
            ExitCode::Stale,
            $this->call([self::PROGRAM, 'status', '--max-age', '300'])->exitCode,
        );
    }

    #[Test]
    public function without_settings_it_says_what_to_do(): void
    {
        $result = $this->call([self::PROGRAM, 'status']);

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString('see docs/operations.md', $result->errors);
    }

    #[Test]
    public function help_and_completion_need_no_settings(): void
    {
        foreach ([['help', 'status'], ['list'], ['--help'], ['completion', 'bash']] as $words) {
            $result = $this->call([self::PROGRAM, ...$words]);
            self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        }
        self::assertStringContainsString('complete -F _sf_trendvault trendvault', $result->output);
        self::assertSame(
            "status\n",
            $this->call([
                self::PROGRAM,
                '_complete',
                '--no-interaction',
                '-sbash',
                '-a1',
                '-itrendvault',
                '-c1',
                '-ist',
            ])->output,
        );
    }

    #[Test]
    public function the_crontab_runs_it_and_so_knows_every_setting(): void
    {
        $lines = file(__DIR__ . '/../../deploy/trendvault.crontab', FILE_IGNORE_NEW_LINES);
        $entries = array_values(preg_grep('/^[^#]/', $lines));
        self::assertCount(1, $entries); // no settings of its own
        self::assertMatchesRegularExpression(
            '~^\* \* \* \* \* trendvault /opt/trendvault/writer/deploy/trendvault cron 2>&1 \| logger ~',
            $entries[0],
        );
        $this->folder->write(
            'writer.env',
            "DB_PATH={$this->folder->path}/a.db\nSOURCES=demo\nOBSERVATION_RETENTION_HOURS=never",
        );
        $command = preg_replace(
            '~^(\S+ ){6}/opt/trendvault/writer/deploy/trendvault~',
            '"$PROGRAM"',
            $entries[0],
        );
        $result = new Process(
            ['/bin/sh', '-c', (string) preg_replace('/\| logger.*/', '', (string) $command)],
            [
                'PATH' => '/usr/bin:/bin:' . dirname(PHP_BINARY),
                'PROGRAM' => self::PROGRAM,
                'TRENDVAULT_SETTINGS' => "{$this->folder->path}/writer.env",
            ],
        )->wait();

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString('OBSERVATION_RETENTION_HOURS=never', $result->output);
    }

    /** @param list<string> $command */
    private function call(array $command): ProcessResult
    {
        return new Process($command, [
            'TRENDVAULT_SETTINGS' => "{$this->folder->path}/writer.env",
        ])->wait();
    }
}
