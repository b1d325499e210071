<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;

/** When the last backup was made, and how the last one failed. */
final readonly class BackupReport
{
    private const string MADE = 'SELECT store, began_at, seconds, bytes FROM backups WHERE bytes IS NOT NULL ORDER BY id DESC LIMIT 1';
    private const string LAST = 'SELECT store, began_at, failure FROM backups ORDER BY id DESC LIMIT 1';

    /**
     * @param ?array<string, mixed> $made
     * @param ?array<string, mixed> $failed the last one, unless it was made
     */
    private function __construct(private ?array $made, private ?array $failed, private int $now) {}

    /** @return ?self null when none was ever begun */
    public static function of(Database $database, int $now): ?self
    {
        $last = $database->rows(self::LAST)[0] ?? null;

        return $last === null
            ? null
            : new self(
                $database->rows(self::MADE)[0] ?? null,
                $last['failure'] === null ? null : $last,
                $now,
            );
    }

    /** @return array<string, mixed> */
    public function facts(): array
    {
        return [
            'made' => $this->made === null ? null : ReadableTime::inRow($this->made),
            'failed' => $this->failed === null ? null : ReadableTime::inRow($this->failed),
        ];
    }

    public function text(): string
    {
        $made =
            $this->made === null
                ? 'none yet'
                : sprintf(
                    '%s ago, %.1f MB in %s',
                    ReadableTime::age($this->now - $this->made['began_at']),
                    $this->made['bytes'] / 1e6,
                    $this->made['store'],
                );

        return $made .
            ($this->failed === null
                ? ''
                : "\n            failed " .
                    ReadableTime::age($this->now - $this->failed['began_at']) .
                    " ago: {$this->failed['failure']}");
    }
}
