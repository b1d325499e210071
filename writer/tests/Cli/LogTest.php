<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\Console\Output\OutputInterface;
use TrendVault\Writer\Cli\Log;
use TrendVault\Writer\Tests\Support\FixedClock;

final class LogTest extends TestCase
{
    #[Test]
    public function an_event_is_one_line_of_JSON_with_its_keys_in_order(): void
    {
        $output = new BufferedOutput();
        $this->log($output)->warning('Läuft <info>voll</info>.', ['event' => 'disk', 'free_bytes' => 12]);

        self::assertSame(
            '{"time":"2025-11-20T12:00:00.000Z","level":"warning","event":"disk",' .
                '"message":"Läuft <info>voll</info>.","free_bytes":12}' .
                "\n",
            $output->fetch(),
        );
    }

    #[Test]
    public function text_that_is_not_UTF_8_does_not_lose_the_line(): void
    {
        $output = new BufferedOutput();
        $this->log($output)->error("Cannot read \xff.", ['event' => 'failed']);

        self::assertStringContainsString('"message":"Cannot read �."', $output->fetch());
    }

    #[Test]
    public function quiet_leaves_only_errors(): void
    {
        $output = new BufferedOutput(OutputInterface::VERBOSITY_QUIET);
        $log = $this->log($output);
        $log->info('Went well.', ['event' => 'one']);
        $log->warning('Went oddly.', ['event' => 'two']);
        $log->critical('Went wrong.', ['event' => 'three']);

        $line = json_decode($output->fetch(), true, flags: JSON_THROW_ON_ERROR);
        self::assertSame(['error', 'three'], [$line['level'], $line['event']]);
    }

    #[Test]
    public function at_a_terminal_it_writes_sentences_and_the_facts_only_when_asked_for(): void
    {
        $output = new BufferedOutput(decorated: false);
        $log = $this->log($output, forPeople: true);
        $log->info('Went well.', ['event' => 'one']);
        $log->warning('Is <b>bold</b>.', ['event' => 'two']);
        $output->setVerbosity(OutputInterface::VERBOSITY_VERBOSE);
        $log->error('Went wrong.', ['event' => 'three', 'exit_code' => 5]);

        self::assertSame(
            "Went well.\nwarning: Is <b>bold</b>.\nerror: Went wrong. {\"event\":\"three\",\"exit_code\":5}\n",
            $output->fetch(),
        );
    }

    #[Test]
    public function a_terminal_is_sent_no_control_characters_of_a_file_name(): void
    {
        $output = new BufferedOutput(decorated: false);
        $this->log($output, forPeople: true)->info("Read \x1b[2J\r\n\u{9b}x\u{202e}\u{2069}\u{200e}.", [
            'event' => 'one',
        ]);

        self::assertSame("Read ?[2J?\n  ?x??\u{200e}.\n", $output->fetch());
    }

    #[Test]
    public function an_output_that_cannot_be_written_is_no_failure(): void
    {
        $output = new class extends BufferedOutput {
            protected function doWrite(string $message, bool $newline): void
            {
                throw new RuntimeException('fflush(): the disk is full');
            }
        };
        $this->log($output)->error('Went wrong.', ['event' => 'one']);

        self::assertSame('', $output->fetch());
    }

    private function log(BufferedOutput $output, bool $forPeople = false): Log
    {
        return new Log($output, new FixedClock(), $forPeople);
    }
}
