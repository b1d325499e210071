<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

use SensitiveParameter;

/** How long a download may take, how large it may be, and what is sent to whom. */
final readonly class DownloadRules
{
    /** @param array<string, string> $authorizations by host, and port where it is not the usual one */
    public function __construct(
        public int $timeoutSeconds,
        public int $mostBytes,
        #[SensitiveParameter] private array $authorizations,
    ) {}

    /** The value of the Authorization header for a host: no host gets another one's. */
    public function authorization(string $host): ?string
    {
        return $this->authorizations[$host] ?? null;
    }
}
