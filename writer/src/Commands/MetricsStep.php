<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use SQLite3Exception;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\RegionSettings;
use TrendVault\Writer\Status\MetricsReport;
use TrendVault\Writer\WriterException;

/** Writes METRICS_FILE after a run, whatever its result, for node_exporter's textfile collector. */
final readonly class MetricsStep
{
    /** Metrics that cannot be made or written are logged: they end no run. */
    public static function run(Context $context): void
    {
        $path = $context->settings->metricsFile;
        if ($path === null || !is_file($context->settings->databasePath)) {
            return;
        }
        try {
            $isWritten = self::write($path, self::text($context));
            $reason = $isWritten ? null : 'check its folder, its owner and the disk.';
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
    private static function text(Context $context): string
    {
        $database = ReadSession::open($context);
        try {
            return MetricsReport::text(
                $database,
                $context->settings->databasePath,
                $context->now(),
                RegionSettings::of($context->settings),
            );
        } finally {
            $database->close();
        }
    }

    /** By a rename, so that the collector never reads half of it; it is another user, whatever the umask. */
    private static function write(string $path, string $text): bool
    {
        $new = "$path.new";
        $isWritten =
            @file_put_contents($new, $text) === strlen($text) && @chmod($new, 0644) && @rename($new, $path);
        if (!$isWritten) {
            @unlink($new);
        }

        return $isWritten;
    }
}
