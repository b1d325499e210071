<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\Pause;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;

/** The PeerTube instances that fail, and are not asked for a while. */
final readonly class InstanceReport
{
    private const string FAILING = <<<'SQL'
    SELECT substr(source, ?1) AS host, retry_at, failure FROM source_schedules
    WHERE substr(source, 1, ?1 - 1) = ?2 AND failure IS NOT NULL AND retry_at > ?3 ORDER BY host
    SQL;

    /** @param array<string, Pause> $pauses by host */
    private function __construct(private array $pauses) {}

    /** @param int $now UTC seconds */
    public static function of(Database $database, int $now): self
    {
        $rows = $database->rows(self::FAILING, [strlen(InstanceUrl::PREFIX) + 1, InstanceUrl::PREFIX, $now]);
        $pauses = [];
        foreach ($rows as ['host' => $host, 'retry_at' => $retryAt, 'failure' => $failure]) {
            $pauses[$host] = new Pause($retryAt, $failure);
        }

        return new self($pauses);
    }

    /** @return list<array{instance: string, until: string, reason: string}> */
    public function facts(): array
    {
        return array_map(
            static fn(string $host, Pause $pause): array => ['instance' => $host, ...$pause->facts()],
            array_keys($this->pauses),
            $this->pauses,
        );
    }

    /** @return list<string> */
    public function lines(): array
    {
        return array_map(
            static fn(string $host, Pause $pause): string => "PeerTube    $host is {$pause->text()}",
            array_keys($this->pauses),
            $this->pauses,
        );
    }
}
