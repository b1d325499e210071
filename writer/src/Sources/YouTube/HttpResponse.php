<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

final readonly class HttpResponse
{
    /** @param array<string, string> $headers by lower-case name */
    public function __construct(public int $status, public array $headers, public string $body) {}
}
