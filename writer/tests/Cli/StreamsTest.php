<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Psr\Log\NullLogger;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\Console\Output\OutputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\Process;
use TrendVault\Writer\Tests\Support\ProcessResult;

final class StreamsTest extends TestCase
{
    private const array RESULTS = [
        'status',
        'status --json',
        'schema',
        'list',
        'status --help',
        'completion bash',
    ];

    #[Test]
    #[DataProvider('unwritableResults')]
    public function a_result_that_cannot_be_written_is_said_and_is_no_success(string $command): void
    {
        $result = self::shell(Installation::migrated(), $command);

        self::assertSame(ExitCode::OutputFailed, $result->exitCode, $result->errors);
        self::assertStringContainsString('Cannot write the result', $result->message());
    }

    /** @return iterable<string, array{string}> */
    public static function unwritableResults(): iterable
    {
        foreach (self::RESULTS as $command) {
            foreach (['>/dev/full', '>&-', '</dev/null >&-'] as $stream) {
                yield "$command $stream" => ["\$WRITER $command $stream"];
            }
        }
    }

    /** What is opened next would have the number of the closed stream, and get what is written to the stream. */
    #[Test]
    #[DataProvider('closedStreams')]
    public function with_closed_streams_no_file_gets_what_was_meant_for_them(string $closed): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write('a.ndjson', NdjsonLine::of() . "\nnot JSON\n");
        $result = self::shell($installation, "\$WRITER ingest $file $closed");

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame(1, $installation->value('SELECT count(*) FROM observations'));
        $rejected = glob("{$installation->folder->path}/rejected/*");
        self::assertSame("not JSON\n", file_get_contents($rejected[0]));
        self::assertCount(1, file($rejected[1]));
        self::assertSame('', file_get_contents("$installation->database.lock"));
        self::assertSame('ok', $installation->value('PRAGMA integrity_check'));
    }

    /** @return iterable<string, array{string}> */
    public static function closedStreams(): iterable
    {
        foreach (['<&-', '>&-', '2>&-', '<&- >&-', '<&- 2>&-', '>&- 2>&-', '<&- >&- 2>&-'] as $closed) {
            yield $closed => [$closed];
        }
    }

    #[Test]
    public function the_help_of_completion_names_the_program_whatever_is_in_the_current_folder(): void
    {
        $installation = new Installation();
        mkdir("{$installation->folder->path}/writer");
        $help = self::shell(
            $installation,
            "cd {$installation->folder->path} && \$WRITER completion --help bash",
        );

        self::assertStringContainsString('eval "$(writer completion ', $help->output);
    }

    #[Test]
    public function a_progress_bar_is_drawn_at_a_terminal_only(): void
    {
        $output = new BufferedOutput(decorated: true);
        $bar = $this->context($output)->progressBar('Reading videos.ndjson');
        $bar?->setProgress(50);
        $bar?->display();

        self::assertMatchesRegularExpression('/Reading videos\.ndjson .+ 50 %/', $output->fetch());
        self::assertNull($this->context(new BufferedOutput(decorated: false))->progressBar('Reading'));
        $quiet = new BufferedOutput(OutputInterface::VERBOSITY_QUIET, decorated: true);
        self::assertNull($this->context($quiet)->progressBar('Reading'));
    }

    #[Test]
    public function a_result_is_written_as_it_is(): void
    {
        $output = new BufferedOutput(decorated: true);
        $this->context($output)->write("<error>a title</error>\n");

        self::assertSame("<error>a title</error>\n", $output->fetch());
    }

    private static function shell(Installation $installation, string $script): ProcessResult
    {
        return new Process(
            ['/bin/sh', '-c', $script],
            ['DB_PATH' => $installation->database, 'WRITER' => Installation::PROGRAM],
        )->wait();
    }

    private function context(OutputInterface $output): Context
    {
        return new Context(Settings::read([], null), new FixedClock(), new NullLogger(), $output);
    }
}
