<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Psr\Log\NullLogger;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\Console\Output\OutputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Tests\Support\FixedClock;

final class ContextTest extends TestCase
{
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

    private function context(OutputInterface $output): Context
    {
        return new Context(Settings::read([], null), new FixedClock(), new NullLogger(), $output);
    }
}
