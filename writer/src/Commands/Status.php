<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use SQLite3Exception;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Status\MetricsReport;
use TrendVault\Writer\Status\StatusReport;
use TrendVault\Writer\WriterException;

#[AsCommand('status', 'Shows what is in the database, how old it is and how the last run ended')]
final class Status extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->addOption('json', mode: InputOption::VALUE_NONE, description: 'Print one JSON object')
            ->addOption(
                'prometheus',
                mode: InputOption::VALUE_NONE,
                description: 'Print metrics in the text format of Prometheus',
            )
            ->addOption(
                'max-age',
                mode: InputOption::VALUE_REQUIRED,
                description: 'Exit with code 1 when there is no generation, or the newest one is older than this many seconds',
            );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $maxAge = self::seconds(self::option($input, 'max-age'));
        $database = $context->openForReading();
        $path = $context->settings->databasePath;
        $regions = $context->settings->regions();
        $report = StatusReport::of($database, $path, $context->now(), ExitCode::labels(), $regions);
        $context->write(
            match (true) {
                self::isGiven($input, 'prometheus') => MetricsReport::text(
                    $database,
                    $path,
                    $context->now(),
                    $regions,
                ),
                self::isGiven($input, 'json') => $report->json(),
                default => implode("\n", array_map(self::visible(...), explode("\n", $report->text()))),
            },
        );
        $age = $report->generationAgeSeconds();

        return $maxAge !== null && ($age === null || $age > $maxAge) ? ExitCode::Stale : ExitCode::Ok;
    }

    private static function seconds(?string $text): ?int
    {
        return $text === null || ctype_digit($text)
            ? ($text === null
                ? null
                : (int) $text)
            : throw WriterException::usage(
                "Cannot read --max-age $text: expected whole seconds, for example 300.",
            );
    }

    /**
     * Writes METRICS_FILE after a run, whatever its result, for node_exporter's textfile collector. Metrics that cannot be
     * made or written are logged: they end no run.
     */
    public static function writeMetrics(Context $context): void
    {
        $path = $context->settings->metricsFile;
        if ($path === null || !is_file($context->settings->databasePath)) {
            return;
        }
        try {
            $reason = match (true) {
                !str_ends_with($path, '.prom') // a slip would replace the database
                    => 'expected a name that ends with .prom; the collector reads no other file.',
                !self::replace($path, self::metrics($context)) => 'check its folder, its owner and the disk.',
                default => null,
            };
        } catch (WriterException | SQLite3Exception $failure) {
            $reason = $failure->getMessage();
        }
        if ($reason !== null) {
            $context->log->error("Cannot write METRICS_FILE=$path: $reason", [
                'event' => 'metrics_not_written',
            ]);
        }
    }

    /** @throws WriterException|SQLite3Exception */
    private static function metrics(Context $context): string
    {
        $database = $context->openForReading();
        try {
            return MetricsReport::text(
                $database,
                $context->settings->databasePath,
                $context->now(),
                $context->settings->regions(),
            );
        } finally {
            $database->close();
        }
    }

    /**
     * A new file, which follows no link, and then a rename: the collector never reads half of it. It is another user,
     * whatever the umask.
     */
    private static function replace(string $path, string $text): bool
    {
        $new = "$path.new";
        @unlink($new);
        $umask = umask(0o022);
        $file = @fopen($new, 'xb');
        umask($umask);
        $isWritten = $file !== false && @fwrite($file, $text) === strlen($text) && @rename($new, $path);
        if ($file !== false && !$isWritten) {
            @unlink($new);
        }

        return $isWritten;
    }
}
