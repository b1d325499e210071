<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\ExitCode;
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
            "# a comment\nDB_PATH={$this->folder->path}/a.db\n  SOURCES = none\nKEEP_DAYS=\"7\" \nDEMO_SEED='\$(exit 3)'",
        );
        $result = $this->call(["{$this->folder->path}/trendvault", 'status']);

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString('DEMO_SEED', $result->errors);
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

    /** @param list<string> $command */
    private function call(array $command): ProcessResult
    {
        return new Process($command, [
            'TRENDVAULT_SETTINGS' => "{$this->folder->path}/writer.env",
        ])->wait();
    }
}
